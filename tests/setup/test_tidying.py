"""Kernels of versions that are gone are offered once for each version, and deleted at a key."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_chat.recipe import kernel_cache
from tests.recipe.test_kernel_cache import installed
from tests.tui.sitting import sitting


@pytest.fixture
def updated(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that an older version left."""
    installed(monkeypatch, sglang="0.5.23", triton="3.8.0")
    old = kernel_cache.folder()
    (old / "triton").mkdir(parents=True)
    (old / "triton" / "kernel.cubin").write_bytes(bytes(5_000_000))
    installed(monkeypatch, sglang="0.5.24", triton="3.8.0")
    kernel_cache.folder().mkdir()
    return old


@pytest.mark.parametrize("size", [(40, 20), (80, 24)])
async def test_one_key_deletes_them(updated: Path, size: tuple[int, int]) -> None:
    async with sitting(size=size) as chat:
        await chat.until(lambda: "old_kernels" in chat.notices)
        assert "take 4.8 MiB" in chat.notice("old_kernels") and updated.name in chat.notice("old_kernels")
        assert "ctrl+g delete them" in chat.screen_text() and chat.app.chat.composer.prompt.has_focus
        await chat.pilot.press("ctrl+g")
        await chat.until(lambda: "were deleted" in chat.notice("said"))
        assert kernel_cache.left() == [] and updated.name not in [one.name for one in kernel_cache.root().iterdir()]


async def test_kept_they_are_not_offered_again_until_the_next_version(
    updated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for offered in (True, False):
        async with sitting() as chat:
            await chat.until(lambda: "spark-light" in chat.app.available_themes)
            if offered:
                await chat.until(lambda: "old_kernels" in chat.notices)
                await chat.pilot.press("escape")
            await chat.until(lambda: "old_kernels" not in chat.notices)
    assert [one.path for one in kernel_cache.left()] == [updated]
    installed(monkeypatch, sglang="0.5.25", triton="3.8.0")
    async with sitting() as chat:
        await chat.until(lambda: "old_kernels" in chat.notices)


async def test_where_there_are_none_nothing_is_said(home: Path) -> None:
    async with sitting() as chat:
        await chat.until(lambda: "spark-light" in chat.app.available_themes)
        await chat.pilot.pause()
        assert "old_kernels" not in chat.notices

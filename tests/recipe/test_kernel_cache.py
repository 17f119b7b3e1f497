"""Kernels of each version lie in a folder of their own, and what older ones left can be deleted."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_chat import locations
from spark_chat.headless import doctor, doctor_files
from spark_chat.recipe import kernel_cache


def installed(monkeypatch: pytest.MonkeyPatch, **versions: str) -> None:
    def version(package: str) -> str:
        try:
            return versions[package.partition("-")[0]]
        except KeyError:
            raise kernel_cache.PackageNotFoundError(package) from None

    monkeypatch.setattr(kernel_cache, "version", version)


def test_an_update_leaves_the_old_ones_to_be_deleted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, sglang="0.5.23", triton="3.8.0")
    assert kernel_cache.tag() == "sglang-0.5.23-triton-3.8.0"
    old = Path(kernel_cache.environment()["TRITON_CACHE_DIR"])
    old.mkdir(parents=True)
    (old / "kernel.cubin").write_bytes(bytes(5000))
    assert kernel_cache.left() == [] and list(doctor_files.old_caches()) == []
    installed(monkeypatch, sglang="0.5.24+cu130/x", triton="3.8.0")
    assert kernel_cache.tag() == "sglang-0.5.24-triton-3.8.0"
    kernel_cache.folder().mkdir()
    (left,) = kernel_cache.left()
    assert left.size == 5000 and left.path.name == "sglang-0.5.23-triton-3.8.0"
    (finding,) = doctor_files.old_caches()
    assert "4.9 KiB" in finding.text and "--fix" in finding.remedy
    (done,) = doctor.fix([finding])
    assert "were deleted" in done and not left.path.exists() and kernel_cache.folder().exists()


def test_without_any_of_them_nothing_is_called_old(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (locations.cache_folder() / "kernels" / "sglang-0.5.23").mkdir(parents=True)
    installed(monkeypatch)
    assert kernel_cache.left() == []

"""What can't be loaded, each with a sentence of its own."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from spark_chat.engine import llama
from spark_chat.engine.interface import EngineFailure
from spark_chat.engine.protocol import Failed, Load, Ready
from tests.engine.probe import Probe, recipe
from tests.engine.test_gguf_facts import SHAPE, TIED, write

pytestmark = pytest.mark.model


@pytest.fixture(autouse=True)
def _home(home: Path) -> None:
    """Logs go to a folder of the test's own."""


async def refused(path: Path, **more: Any) -> Failed:
    async with Probe() as probe:
        failed = await probe.start(recipe(path, **more))
        await probe.gone()
        assert isinstance(failed, Failed), failed
        assert [event for event in probe.events if isinstance(event, Failed)] == [failed]
        assert failed.id is None and failed.what.endswith(".") and "Traceback" not in failed.why
        return failed


async def test_a_missing_file(tmp_path: Path) -> None:
    failed = await refused(tmp_path / "absent.gguf")
    assert failed.code == "load" and "no model file absent.gguf" in failed.what and "--model" in failed.remedy


async def test_a_folder(tmp_path: Path) -> None:
    assert "folder" in (await refused(tmp_path)).what


async def test_a_truncated_file(tmp_path: Path, model: Path) -> None:
    path = tmp_path / "cut.gguf"
    shutil.copyfile(model, path)
    os.truncate(path, 40_000_000)
    failed = await refused(path)
    assert "cut off" in failed.what and "40,000,000" in failed.what and "again" in failed.remedy


async def test_a_foreign_file(tmp_path: Path) -> None:
    path = tmp_path / "foreign.gguf"
    path.write_bytes(b"PK\x03\x04" + os.urandom(2000))
    assert "not a GGUF" in (await refused(path)).what


async def test_a_file_that_can_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "circle.gguf"
    path.symlink_to(path)
    failed = await refused(path)
    assert "can't be read" in failed.what and failed.why


async def test_an_architecture_that_llama_cpp_does_not_know(tmp_path: Path) -> None:
    failed = await refused(write(tmp_path / "new.gguf", TIED, "marvin9", **SHAPE))
    assert "'marvin9'" in failed.what and failed.facts["architecture"] == "marvin9"


async def test_a_gguf_that_lacks_what_its_architecture_needs(tmp_path: Path) -> None:
    failed = await refused(write(tmp_path / "hollow.gguf", TIED, **SHAPE))
    assert failed.code == "load" and "hollow.gguf" in failed.what and failed.why


async def test_more_than_memory_holds_is_refused_with_figures(tmp_path: Path) -> None:
    path = write(tmp_path / "huge.gguf", TIED, **{**SHAPE, "context_length": 2**30, "embedding_length": 65536})
    failed = await refused(path, context=2**30)
    assert failed.code == "memory" and "GiB" in failed.what and "KV cache" in failed.why
    assert failed.facts["needed_bytes"] > failed.facts["available_bytes"] > 0


async def test_an_argument_that_is_none(model: Path) -> None:
    failed = await refused(model, args={"n_bacth": 3})
    assert failed.code == "request" and "n_bacth" in failed.what and "n_batch" in failed.why


async def test_arguments_are_passed_through(model: Path) -> None:
    async with Probe() as probe:
        ready = await probe.start(recipe(model, context=300, args={"n_batch": 64, "cpuparams": {"n_threads": 2}}))
        assert isinstance(ready, Ready)
        assert ready.facts["threads"] == 2 and ready.facts["args"] == ["n_batch", "cpuparams.n_threads"]
        assert any("n_batch               = 64" in line for line in probe.client.log_end(2000))
        assert ready.context == 512


async def test_context_of_zero_is_the_trained_length_and_more_than_it_is_not_given(model: Path) -> None:
    async with Probe() as probe:
        ready = await probe.start(recipe(model, context=0))
        assert isinstance(ready, Ready) and ready.context == 8192 and "trained" in ready.facts["context_note"]
    async with Probe() as probe:
        ready = await probe.start(recipe(model, context=100_000))
        assert isinstance(ready, Ready) and ready.context == 8192 and "8,192" in ready.facts["context_note"]


@pytest.mark.parametrize(
    ("number", "code", "remedy"),
    [(errno.ENOMEM, "memory", "ulimit"), (errno.EACCES, "load", "perm"), (errno.EIO, "load", "disk")],
)
def test_what_to_do_about_an_unreadable_file_fits_the_reason(
    number: int, code: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(path: Path) -> None:
        raise OSError(number, "why")

    monkeypatch.setattr(llama.gguf_facts, "read", read)
    load = Load(engine="llama.cpp", model="m.gguf", context=0, optimizations={})
    with pytest.raises(EngineFailure) as failed:
        llama.LlamaEngine().load(load, lambda stage, fraction, text: None)
    assert failed.value.code == code and remedy in failed.value.remedy

"""A model whose name is no UTF-8: through the wire, and loaded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.engine.codec import decode_command, encode
from spark_chat.engine.interface import EngineFailure
from spark_chat.engine.model_path import for_llama, off_the_wire, on_the_wire
from spark_chat.engine.protocol import Done, Load, Ready
from spark_chat.models import find
from tests.engine.probe import Probe, ask, recipe

ODD = os.fsdecode(b"caf\xe9 50%.gguf")


@given(st.binary(min_size=1).filter(lambda name: b"/" not in name and b"\0" not in name and name not in (b".", b"..")))
def test_any_name_comes_through_the_wire(name: bytes) -> None:
    path = f"/models/{os.fsdecode(name)}"
    command = decode_command(encode(recipe(Path(path)).load()))
    assert isinstance(command, Load) and os.fsencode(off_the_wire(command.model)) == os.fsencode(path)
    if path.isprintable() and path.isascii():
        assert on_the_wire(path) == path


def test_parts_with_such_a_name_are_refused_in_a_sentence(tmp_path: Path) -> None:
    part = tmp_path / os.fsdecode(b"caf\xe9-00001-of-00002.gguf")
    part.write_bytes(b"GGUF")
    with pytest.raises(EngineFailure) as caught:
        for_llama(str(part))
    assert "several files" in caught.value.what and "Rename" in caught.value.remedy
    assert for_llama(str(tmp_path / "café-00001-of-00002.gguf")).endswith("café-00001-of-00002.gguf")


@pytest.mark.model
@pytest.mark.usefixtures("home")
async def test_such_a_model_is_found_loaded_and_answers(tmp_path: Path, model: Path) -> None:
    odd = tmp_path / ODD
    os.symlink(model, odd)  # noqa: PTH211
    async with Probe() as probe:
        ready = await probe.start(recipe(Path(find.find(str(odd)).path), context=512))
        assert isinstance(ready, Ready), ready
        _, done = await probe.answer(ask("a", "Say hi.", max_tokens=4))
        assert isinstance(done, Done) and done.usage.completion_tokens == 4

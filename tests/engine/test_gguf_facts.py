"""The header's facts, against files written by the `gguf` package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import numpy
import pytest

from spark_chat.engine.gguf_facts import TENSOR_TYPES, BadGguf, GgufFacts, read

F32, F16 = numpy.float32, numpy.float16


def write(path: Path, tensors: dict[str, tuple[int, Any]], architecture: str = "llama", **values: Any) -> Path:
    """A GGUF with `tensors` (elements, dtype) and `<architecture>.<key>` values."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_string("general.name", "Tiny")
    writer.add_array("tokenizer.ggml.tokens", ["a", "bc", "déf"] * 700)
    writer.add_array("tokenizer.ggml.scores", [0.5] * 2100)
    for key, value in values.items():
        name = f"{architecture}.{key.replace('__', '.')}"
        if isinstance(value, list):
            writer.add_array(name, value)
        else:
            writer.add_uint32(name, value)
    for name, (elements, kind) in tensors.items():
        writer.add_tensor(name, numpy.zeros(elements, dtype=kind))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


TIED = {"token_embd.weight": (640, F16), "blk.0.attn_q.weight": (64, F32)}
UNTIED = {**TIED, "output.weight": (640, F32)}
SHAPE = {"block_count": 4, "embedding_length": 64, "attention__head_count": 8, "context_length": 512}


def test_facts_of_a_tied_model(tmp_path: Path) -> None:
    facts = read(write(tmp_path / "m.gguf", TIED, **SHAPE))
    assert (facts.architecture, facts.name, facts.context) == ("llama", "Tiny", 512)
    assert (facts.parameters, facts.quantization) == (704, "F16")
    assert (facts.output_type, facts.output_tied, facts.mtp_layers) == ("F16", True, 0)
    assert facts.bytes == (tmp_path / "m.gguf").stat().st_size
    assert "tokenizer.ggml.tokens" not in facts.metadata


def test_an_output_layer_of_its_own(tmp_path: Path) -> None:
    facts = read(write(tmp_path / "m.gguf", UNTIED, **SHAPE))
    assert (facts.output_type, facts.output_tied) == ("F32", False)


def test_an_mtp_block_counts_only_with_its_tensors(tmp_path: Path) -> None:
    claimed = write(tmp_path / "a.gguf", TIED, nextn_predict_layers=1, **SHAPE)
    assert read(claimed).mtp_layers == 0
    there = write(
        tmp_path / "b.gguf", {**TIED, "blk.4.nextn.eh_proj.weight": (8, F32)}, nextn_predict_layers=1, **SHAPE
    )
    assert read(there).mtp_layers == 1


def kv(tmp_path: Path, **values: Any) -> int | None:
    return read(write(tmp_path / "m.gguf", TIED, **{**SHAPE, **values})).kv_bytes_per_token()


def test_kv_bytes(tmp_path: Path) -> None:
    assert kv(tmp_path) == 4 * 8 * (8 + 8) * 2
    assert kv(tmp_path, attention__head_count_kv=2) == 4 * 2 * (8 + 8) * 2
    assert kv(tmp_path, attention__head_count_kv=[2, 0, 0, 2]) == 4 * (8 + 8) * 2
    assert kv(tmp_path, attention__head_count_kv=2, full_attention_interval=4) == 2 * (8 + 8) * 2
    assert kv(tmp_path, attention__key_length=16, attention__value_length=4) == 4 * 8 * 20 * 2
    assert kv(tmp_path, attention__kv_lora_rank=32, rope__dimension_count=4) == 4 * 36 * 2
    assert kv(tmp_path, attention__head_count=0) is None


def test_a_split_model_is_read_whole_and_a_missing_part_is_named(tmp_path: Path) -> None:
    first = write(tmp_path / "m-00001-of-00002.gguf", TIED, **SHAPE)
    with pytest.raises(BadGguf, match=r"m-00002-of-00002\.gguf is not there"):
        read(first)
    second = write(tmp_path / "m-00002-of-00002.gguf", {"output.weight": (640, F32)})
    for path in (first, second):
        facts = read(path)
        assert (facts.parameters, facts.output_tied, facts.context) == (1344, False, 512)
        assert facts.files == (first, second)


def test_files_that_are_no_whole_gguf(tmp_path: Path) -> None:
    whole = write(tmp_path / "m.gguf", UNTIED, **SHAPE).read_bytes()
    path = tmp_path / "bad.gguf"

    def refused(data: bytes) -> str:
        path.write_bytes(data)
        with pytest.raises(BadGguf) as caught:
            read(path)
        assert "bad.gguf" in str(caught.value) or "version" in str(caught.value)
        return str(caught.value)

    assert "it is empty" in refused(b"")
    assert "not a GGUF" in refused(b"PK\x03\x04" + b"x" * 100)
    assert "not a GGUF" in refused(b"#!/bin/sh")
    assert "cut off" in refused(whole[:20])
    assert "version" in refused(b"GGUF" + b"\x63\x00\x00\x00" + whole[8:])
    assert "output.weight" in refused(whole[:-1])
    assert "cut off" in refused(b"GGUF\x03\x00\x00\x00" + b"\xff" * 64)


def test_every_cut_is_noticed(tmp_path: Path) -> None:
    whole = write(tmp_path / "m.gguf", UNTIED, **SHAPE).read_bytes()
    path = tmp_path / "cut.gguf"
    for length in [*range(0, 400, 7), *range(400, len(whole), 997), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(BadGguf):
            read(path)


def test_a_header_without_architecture(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + bytes(16))
    with pytest.raises(BadGguf, match="architecture"):
        read(path)


def test_sizes_of_tensor_types_are_those_of_the_gguf_package() -> None:
    for kind, (name, block, size) in TENSOR_TYPES.items():
        official = gguf.GGMLQuantizationType(kind)
        assert (official.name, gguf.GGML_QUANT_SIZES[official]) == (name, (block, size))


def test_the_small_model(model: Path) -> None:
    facts: GgufFacts = read(model)
    assert (facts.architecture, facts.quantization, facts.context) == ("llama", "Q4_1", 8192)
    assert (facts.output_type, facts.output_tied) == ("Q8_0", True)
    assert facts.parameters == 134_515_008 and facts.kv_bytes_per_token() == 23_040

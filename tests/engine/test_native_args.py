"""Engine arguments by name: what fits is set, the rest is refused with what would fit."""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

from spark_chat.engine.interface import EngineFailure
from spark_chat.engine.native_args import apply


class CacheType(IntEnum):
    CACHETYPE_F16 = 1
    CACHETYPE_Q8_0 = 8


class Threads:
    def __init__(self) -> None:
        self.n_threads = -1


class Native:
    def __init__(self) -> None:
        self.n_batch = 512
        self.rope_scale = 1.0
        self.offline = False
        self.chat_template = ""
        self.cache_type_k = CacheType.CACHETYPE_F16
        self.types = [CacheType.CACHETYPE_F16]
        self.kwargs: dict[str, Any] = {}
        self.cpuparams = Threads()
        self._strict = 0

    @property
    def strict(self) -> int:
        return self._strict

    @strict.setter
    def strict(self, value: int) -> None:
        assert value < 10, "must be below 10"
        self._strict = value

    def empty(self) -> bool:
        return True


RESERVED = {"n_ctx": "engine.context"}


def refused(args: dict[str, Any]) -> str:
    with pytest.raises(EngineFailure) as caught:
        apply(Native(), args, RESERVED)
    failure = caught.value
    assert failure.code == "request" and failure.facts["argument"] in failure.what
    return f"{failure.what} {failure.why} {failure.remedy}"


@pytest.mark.parametrize(
    ("args", "name", "value"),
    [
        ({"n_batch": 128}, "n_batch", 128),
        ({"rope_scale": 2}, "rope_scale", 2.0),
        ({"offline": True}, "offline", True),
        ({"chat_template": "chatml"}, "chat_template", "chatml"),
        ({"cache_type_k": "q8_0"}, "cache_type_k", CacheType.CACHETYPE_Q8_0),
        ({"cache_type_k": 8}, "cache_type_k", CacheType.CACHETYPE_Q8_0),
        ({"types": ["q8_0", "CACHETYPE_F16"]}, "types", [CacheType.CACHETYPE_Q8_0, CacheType.CACHETYPE_F16]),
        ({"kwargs": {"a": {"b": 1}}}, "kwargs", {"a": {"b": 1}}),
    ],
)
def test_sets_what_fits(args: dict[str, Any], name: str, value: Any) -> None:
    native = Native()
    assert apply(native, args, RESERVED) == [name]
    assert getattr(native, name) == value and type(getattr(native, name)) is type(value)


@pytest.mark.parametrize("args", [{"cpuparams.n_threads": 3}, {"cpuparams": {"n_threads": 3}}])
def test_dotted_and_nested_names(args: dict[str, Any]) -> None:
    native = Native()
    assert apply(native, args, RESERVED) == ["cpuparams.n_threads"]
    assert native.cpuparams.n_threads == 3


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"n_bacth": 1}, "n_batch"),
        ({"n_threads": 1}, "cpuparams.n_threads"),
        ({"n_thread": 1}, "cpuparams.n_threads"),
        ({"cpuparams.threads": 1}, "cpuparams.n_threads"),
        ({"zzz": 1}, "There is none like it"),
        ({"empty": 1}, "empty"),
        ({"n_ctx": 1}, "engine.context"),
        ({"n_batch": "many"}, "a whole number"),
        ({"n_batch": True}, "a whole number"),
        ({"n_batch": 1.5}, "a whole number"),
        ({"offline": 1}, "true or false"),
        ({"rope_scale": "1"}, "a number"),
        ({"chat_template": 3}, "text"),
        ({"types": "q8_0"}, "a list"),
        ({"types": ["q9"]}, "f16, q8_0"),
        ({"cache_type_k": "q9"}, "f16, q8_0"),
        ({"cache_type_k": True}, "f16, q8_0"),
        ({"cpuparams": 3}, "cpuparams"),
        ({"strict": 12}, "must be below 10"),
    ],
)
def test_refuses_by_name_with_what_would_fit(args: dict[str, Any], says: str) -> None:
    assert says in refused(args)


def test_nothing_after_a_wrong_one_is_needed_to_refuse() -> None:
    assert "n_bacth" in refused({"n_batch": 1, "n_bacth": 1})


@pytest.mark.model
def test_the_names_of_the_real_parameters() -> None:
    xllamacpp = pytest.importorskip("xllamacpp")
    params = xllamacpp.CommonParams()
    done = apply(
        params,
        {"speculative": {"ngram_mod": {"n_min": 4}}, "cache_type_v": "q8_0", "speculative.types": ["ngram_mod"]},
        {},
    )
    assert len(done) == 3 and params.speculative.ngram_mod.n_min == 4
    assert params.cache_type_v == xllamacpp.ggml_type.GGML_TYPE_Q8_0
    with pytest.raises(EngineFailure, match="tensor_split"):
        apply(params, {"tensor_split": [1, 2]}, {})


@pytest.mark.model
@pytest.mark.parametrize(("gpu", "most"), [(False, 4), (True, 16)])
def test_drafts_from_ngrams_are_short_where_each_position_costs(
    gpu: bool, most: int, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import xllamacpp

    from spark_chat.engine import gguf_facts, llama_params
    from spark_chat.engine.protocol import Load

    monkeypatch.setattr(llama_params, "_gpu", lambda native: gpu)
    command = Load(engine="llama.cpp", model=str(model), context=512, optimizations={"mtp": True})
    planned = llama_params.plan(command, gguf_facts.read(model), xllamacpp)
    assert (planned.kind, planned.params.speculative.ngram_mod.n_max) == ("n-gram", most)

"""Every kind of command and event, any values: there and back; unknown fields, unknown kinds, bounds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.engine import protocol as p
from spark_chat.engine.codec import decode_command, decode_event, encode
from spark_chat.engine.protocol import ProtocolError

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
counts = st.integers(0, 2**53)
times = st.floats(0, 1e9)
scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | words
tables: st.SearchStrategy[dict[str, Any]] = st.dictionaries(words, scalars | st.lists(scalars, max_size=3), max_size=4)
perhaps = st.none() | counts

turns = st.builds(p.Turn, st.sampled_from(["system", "user", "assistant"]), words)
samplings = st.builds(p.Sampling, temperature=st.floats(0, 5), top_p=st.floats(0, 1), seed=perhaps)
proofs = st.builds(p.Proof, active=st.none() | st.booleans(), kind=words, reason=words, facts=tables)
usages = st.builds(
    p.Usage, prompt_tokens=counts, cached_tokens=counts, completion_tokens=counts, verify_steps=perhaps,
    accepted_histogram=st.none() | st.lists(counts, max_size=5),
)  # fmt: skip
finishes = st.sampled_from(["stop", "length", "abort", "context"])
codes = st.sampled_from(["load", "died", "overflow", "request", "memory", "protocol", "held"])

commands = st.one_of(
    st.builds(
        p.Load, engine=words, model=words, context=counts, optimizations=st.dictionaries(words, st.booleans()),
        options=tables, args=tables,
    ),
    st.builds(p.Generate, id=words, messages=st.lists(turns, max_size=4), sampling=samplings, thinking=st.booleans()),
    st.builds(p.Abort, id=words),
    st.just(p.Stats()),
    st.just(p.Shutdown()),
)  # fmt: skip
events = st.one_of(
    st.builds(p.Progress, stage=words, fraction=st.none() | st.floats(0, 1), text=words, time=times),
    st.builds(
        p.Ready, engine=words, version=words, model=words, context=counts, proofs=st.dictionaries(words, proofs),
        facts=tables, time=times,
    ),
    st.builds(p.Started, id=words, time=times),
    st.builds(p.Delta, id=words, text=words, reasoning=words, tokens=counts, verify_steps=perhaps, time=times),
    st.builds(p.Done, id=words, finish=finishes, usage=usages, timings=st.just(p.Timings()), time=times),
    st.builds(p.Failed, id=st.none() | words, code=codes, what=words, why=words, facts=tables, time=times),
    st.builds(p.Statistics, memory_bytes=counts, gpu_bytes=perhaps, facts=tables, time=times),
)  # fmt: skip


@given(commands)
def test_commands_there_and_back(command: p.AnyCommand) -> None:
    frame = encode(command)
    assert frame.endswith(b"\n") and frame.count(b"\n") == 1
    assert decode_command(frame[:-1]) == command


@given(events)
def test_events_there_and_back(event: p.AnyEvent) -> None:
    frame = encode(event)
    assert frame.count(b"\n") == 1
    assert decode_event(frame[:-1]) == event


@given(events, words, scalars)
def test_a_field_that_is_not_known_is_ignored(event: p.AnyEvent, name: str, value: Any) -> None:
    grown = {**json.loads(encode(event)), f"later_{name}": value}
    assert decode_event(json.dumps(grown).encode()) == event


@given(st.from_regex(r"[a-z]{3,12}x", fullmatch=True))
def test_a_kind_that_is_not_known_is_named(kind: str) -> None:
    for decode in (decode_command, decode_event):
        with pytest.raises(ProtocolError, match=kind):
            decode(json.dumps({"kind": kind}).encode())


@given(st.binary(max_size=200))
def test_bytes_that_are_no_frame_give_a_protocol_error(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        decode_command(b"#" + data)


def test_a_wrong_type_names_the_field() -> None:
    with pytest.raises(ProtocolError, match="messages"):
        decode_command(b'{"kind":"generate","id":"a","messages":3,"sampling":{}}')


def test_deep_nesting_is_an_error_and_no_crash() -> None:
    with pytest.raises(ProtocolError):
        decode_command(b'{"kind":"stats","x":' + b"[" * 100_000)


def test_a_ten_megabyte_prompt_fits_and_what_is_too_long_does_not() -> None:
    turn = p.Turn("user", "\x01" * 10_000_000)
    frame = encode(p.Generate(id="a", messages=[turn], sampling=p.Sampling()))
    assert len(frame) <= p.MAX_FRAME
    with pytest.raises(ProtocolError, match="limit"):
        encode(p.Abort(id="x" * p.MAX_FRAME))


def test_lone_surrogates_are_replaced() -> None:
    back = decode_command(encode(p.Generate(id="a", messages=[p.Turn("user", "a\ud800b")], sampling=p.Sampling())))
    assert isinstance(back, p.Generate)
    assert "\ud800" not in back.messages[0].content and back.messages[0].content.startswith("a")

"""The line of meters, by what is known and how wide it is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spark_chat.driver.snapshot import Phase, Snapshot
from spark_chat.engine.protocol import Ready, Statistics
from spark_chat.meters import units
from spark_chat.meters.numbers import AnswerNumbers
from spark_chat.tui.widgets.meters import Readings, Trail, bars, gib, meters_text, readings

GIB = 1 << 30
FULL = Readings(
    tok_s=131.24, accept=1.834, tok_s_trail=(100, 120, 131), accept_trail=(1.5, 1.8), context_used=3100, context=8192,
    memory=int(0.42 * GIB), memory_all=24 * GIB, queue=2,
)  # fmt: skip


def test_wide_narrow_and_tiny() -> None:
    assert meters_text(FULL, 120).plain == (
        "131.2 tok/s ▇██   accept 1.83 ▇█   context 3.1k / 8.2k   memory 0.4 / 24.0 GiB   queue 2"
    )
    assert meters_text(FULL, 76).plain.startswith("131.2 tok/s")
    assert "ctx 3.1k/8.2k  mem 0.4/24.0 GiB  queue 2" in meters_text(FULL, 76).plain
    assert meters_text(FULL, 36).plain == "131.2 tok/s  accept 1.83  queue 2"
    assert meters_text(FULL, 12).plain == "131.2 tok/s"


@given(st.integers(GIB, 1000 * GIB))
def test_memory_is_rounded_as_the_doctor_rounds_it(memory: int) -> None:
    assert f"{gib(memory)} GiB" == units.size(memory)


def test_what_is_not_known_is_a_dash_or_absent() -> None:
    assert meters_text(Readings(), 80).plain == "- tok/s   accept -   queue 0"


@given(
    st.one_of(st.none(), st.floats(0, 1e5)), st.one_of(st.none(), st.floats(0, 9)),
    st.lists(st.floats(0, 1e4), max_size=20), st.integers(0, 10_000_000), st.integers(0, 400 * GIB),
    st.integers(0, 9999), st.integers(1, 300),
)  # fmt: skip
def test_it_always_fits(
    speed: float | None, accept: float | None, trail: list[float], used: int, memory: int, queue: int, width: int
) -> None:
    shown = Readings(speed, accept, tuple(trail), tuple(trail), used, 262_144, memory, 128 * GIB, memory, queue)
    assert meters_text(shown, width).cell_length <= width


@given(st.lists(st.floats(0, 1e6), max_size=30), st.integers(0, 20))
def test_bars_are_one_a_value(values: list[float], width: int) -> None:
    drawn = bars(tuple(values), width)
    shown = values[-width:] if width else []
    assert len(drawn) == (len(shown) if max(shown, default=0) > 0 else 0)


def test_readings_are_live_while_an_answer_comes_and_the_whole_answers_after() -> None:
    ready = Ready(engine="llama.cpp", version="1", model="m", context=8192, proofs={}, time=0.0)
    snapshot = Snapshot(phase=Phase.READY, ready=ready, statistics=Statistics(memory_bytes=5, time=0.0))
    live = AnswerNumbers(tokens=30, prompt_tokens=100, live_tok_s=140.0, decode_tok_s=120.0, accept_length=1.5)
    during = readings(snapshot, live, (Trail(), Trail()), 0, 7, 50)
    assert (during.tok_s, during.accept, during.context_used) == (140.0, 1.5, 130)
    over = AnswerNumbers(tokens=30, prompt_tokens=100, live_tok_s=140.0, decode_tok_s=120.0, finish="stop")
    after = readings(snapshot, over, (Trail(), Trail()), 0, 7, 50)
    assert (after.tok_s, after.accept, after.context_used, after.memory_all) == (120.0, None, 50, 7)

"""Counts of a streamed chunk are those of its own token count, also where several batches came before it was read."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.engine.sglang_request import kept
from spark_chat.sglang_plugin import counters
from spark_chat.sglang_plugin.counters import Counts


def batch(rid: str, tokens: int, verify: int, correct: int) -> SimpleNamespace:
    return SimpleNamespace(
        rids=["other", rid], completion_tokens=[1, tokens], spec_verify_ct=[1, verify],
        spec_num_correct_drafts=[0, correct], spec_correct_drafts_histogram=[[1], [0, verify]],
    )  # fmt: skip


def test_each_chunk_finds_its_own_counts() -> None:
    counters.watch("a")
    for tokens, verify, correct in ((1, 0, 0), (4, 1, 2), (8, 2, 5)):
        counters._before_batch(None, batch("a", tokens, verify, correct))
    assert counters.at("a", 4) == Counts(1, 2, (0, 1))
    assert counters.at("a", 8) == Counts(2, 5, (0, 2))
    counters.forget("a")
    assert counters.at("a", 8) is None


def test_without_speculation_nothing_is_counted() -> None:
    counters.watch("b")
    counters._before_batch(None, SimpleNamespace(rids=["b"], completion_tokens=[3], spec_verify_ct=[]))
    assert counters.at("b", 3) is None
    counters.forget("b")


@given(st.lists(st.integers(0, 3), min_size=1, max_size=20), st.integers(0, 3))
def test_drafts_past_a_cut_are_not_counted(accepted: list[int], cut: int) -> None:
    """The last step emits accepted + 1 tokens; a stop after some of them leaves only drafts, and the bonus is gone."""
    cut = min(cut, accepted[-1])
    tokens = 1 + sum(accepted) + len(accepted) - cut
    stays = accepted[-1] + 1 - cut
    expected = sum(accepted[:-1]) + (stays if cut else accepted[-1])
    assert kept(tokens, len(accepted), sum(accepted)) == expected


@pytest.mark.parametrize(("tokens", "verify", "accepted"), [(0, 0, 0), (1, 0, 0)])
def test_before_the_first_step_nothing_was_accepted(tokens: int, verify: int, accepted: int) -> None:
    assert kept(tokens, verify, accepted) == 0

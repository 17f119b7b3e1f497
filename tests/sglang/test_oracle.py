"""The oracle checkpoint says what it was built to say, and says something else where one part of it is broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gpu.oracle_text import ASSISTANT, END_THINK, THINK, Oracle, word

torch = pytest.importorskip("torch", reason="the oracle's numbers need torch (pip install '.[spark]')")


def said(folder: Path, **broken: object) -> tuple[float, float]:
    """Shares of all tokens after which target and draft say what is known."""
    from tests.gpu.oracle_reference import Reference

    oracle, model = Oracle.load(folder), Reference(folder, **broken)  # type: ignore[arg-type]
    cycles = (oracle.right, oracle.mixed)
    tokens = torch.tensor([token for cycle in cycles for token in cycle])
    before = torch.tensor([cycle[place - 1] for cycle in cycles for place in range(len(cycle))])
    state = model.state(tokens)
    target = model.says(state) == torch.tensor([oracle.next(int(token)) for token in tokens])
    draft = model.draft(tokens, model.state(before)) == torch.tensor([oracle.draft(int(token)) for token in tokens])
    return target.float().mean().item(), draft.float().mean().item()


def test_target_and_draft_say_what_is_known(oracle: Path) -> None:
    assert said(oracle) == (1.0, 1.0)


@pytest.mark.parametrize("part", ["dense", "shared", "routed"])
def test_text_breaks_without_one_of_the_targets_mlps(oracle: Path, part: str) -> None:
    assert said(oracle, skip=part)[0] < 1


@pytest.mark.parametrize("part", ["draft shared", "draft routed"])
def test_drafts_break_without_one_of_the_drafts_mlps(oracle: Path, part: str) -> None:
    target, draft = said(oracle, skip=part)
    assert target == 1 and draft < 1


def test_text_breaks_without_the_clamp(oracle: Path) -> None:
    assert said(oracle, clamp=False)[0] < 1


def test_drafts_break_without_the_hidden_state(oracle: Path) -> None:
    target, draft = said(oracle, hidden=False)
    assert target == 1 and draft < 0.8


def test_right_cycle_accepts_every_draft(oracle: Path) -> None:
    expected = Oracle.load(oracle).expect(THINK, 1 + 4 * 16)
    assert expected.accept_length == 4.0 and expected.histogram == [0, 0, 0, 16]


def test_mixed_cycle_accepts_near_the_published_length(oracle: Path) -> None:
    length = Oracle.load(oracle).expect(ASSISTANT, 513).accept_length
    assert length is not None and 2.4 < length < 2.9


def test_nothing_past_max_tokens_is_counted(oracle: Path) -> None:
    expected = Oracle.load(oracle).expect(THINK, 1 + 4 * 10 + 2)
    assert (len(expected.tokens), expected.verify_steps, expected.accepted_drafts) == (43, 11, 32)


def test_a_thought_ends_within_the_right_cycle(oracle: Path) -> None:
    assert END_THINK in Oracle.load(oracle).text(THINK, 40)


def test_every_token_has_a_word_of_its_own() -> None:
    assert len({word(token) for token in range(200_000)}) == 200_000

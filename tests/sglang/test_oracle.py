"""The oracle checkpoint says what it was built to say, and says something else where one part of it is broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gpu.oracle_text import ASSISTANT, END_THINK, THINK, Oracle, word

torch = pytest.importorskip("torch", reason="the oracle's numbers need torch (pip install '.[spark]')")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.gpu.oracle_plan import draw
    from tests.gpu.oracle_weights import Writer

    place = tmp_path_factory.mktemp("oracle")
    Writer(draw(), 0).write(place)
    return place


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


def test_target_and_draft_say_what_is_known(folder: Path) -> None:
    assert said(folder) == (1.0, 1.0)


@pytest.mark.parametrize("part", ["dense", "shared", "routed"])
def test_text_breaks_without_one_of_the_targets_mlps(folder: Path, part: str) -> None:
    assert said(folder, skip=part)[0] < 1


@pytest.mark.parametrize("part", ["draft shared", "draft routed"])
def test_drafts_break_without_one_of_the_drafts_mlps(folder: Path, part: str) -> None:
    target, draft = said(folder, skip=part)
    assert target == 1 and draft < 1


def test_text_breaks_without_the_clamp(folder: Path) -> None:
    assert said(folder, clamp=False)[0] < 1


def test_drafts_break_without_the_hidden_state(folder: Path) -> None:
    target, draft = said(folder, hidden=False)
    assert target == 1 and draft < 0.8


def test_right_cycle_accepts_every_draft(folder: Path) -> None:
    expected = Oracle.load(folder).expect(THINK, 1 + 4 * 16)
    assert expected.accept_length == 4.0 and expected.histogram == [0, 0, 0, 16]


def test_mixed_cycle_accepts_near_the_published_length(folder: Path) -> None:
    length = Oracle.load(folder).expect(ASSISTANT, 513).accept_length
    assert length is not None and 2.4 < length < 2.9


def test_nothing_past_max_tokens_is_counted(folder: Path) -> None:
    expected = Oracle.load(folder).expect(THINK, 1 + 4 * 10 + 2)
    assert (len(expected.tokens), expected.verify_steps, expected.accepted_drafts) == (43, 11, 32)


def test_a_thought_ends_within_the_right_cycle(folder: Path) -> None:
    assert END_THINK in Oracle.load(folder).text(THINK, 40)


def test_every_token_has_a_word_of_its_own() -> None:
    assert len({word(token) for token in range(200_000)}) == 200_000

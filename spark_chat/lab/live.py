"""Tables of a measurement that is still under way, as lines: cheap enough to be made anew with each answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from spark_chat.lab.plan import Plan
from spark_chat.lab.report import fitting
from spark_chat.lab.results import Answer, AnyFound
from spark_chat.lab.summary import Share, histogram, shares
from spark_chat.meters import units
from spark_chat.meters.numbers import AnswerNumbers

RUN_COLUMNS = ("run", "tok/s", "accept", "TTFT", "TPOT", "prefill", "tokens", "cached")
"""What one looks for first comes first: a narrow screen shows the others below."""
BAR = 24
BESIDE_BAR = 20
"""Columns that a bar's figures take."""
WIDE = 1_000
OVER: tuple[tuple[str, Callable[[list[float]], float]], ...] = (("min", min), ("median", median), ("max", max))


def check_lines(answers: Sequence[Answer], now: AnswerNumbers | None = None, width: int = WIDE) -> list[str]:
    """A line a run, then the one under way (`now`), then minimum, median and maximum of the warm ones, then how many
    drafts the steps accepted."""
    rows = [_run(answer) for answer in answers]
    if now is not None:
        rows.append(("now, cold" if now.cold else "now", *_cells(now, now.tokens)))
    counted = [answer for answer in answers if answer.counts]
    if len(counted) > 1:
        rows += [_over(name, counted, of) for name, of in OVER]
    lines = fitting(RUN_COLUMNS, rows, width)
    bars = histogram_lines(histogram(counted), width)
    return [*lines, *(["", *bars] if bars else [])]


def _run(answer: Answer) -> tuple[str, ...]:
    marks = ["warm-up" if answer.role == "warm-up" else str(answer.round), *(["cold"] if answer.cold else [])]
    if answer.failure:
        marks.append("failed")
    elif answer.finish_reason == "abort":
        marks.append("stopped")
    return (", ".join(marks), *_cells(answer, answer.completion_tokens))


def _cells(answer: Answer | AnswerNumbers, tokens: int) -> tuple[str, ...]:
    return (
        units.rate(answer.decode_tok_s), units.accept(answer.accept_length), units.seconds(answer.ttft_s),
        units.milliseconds(answer.tpot_ms), units.rate(answer.prefill_tok_s), f"{tokens:,}",
        f"{answer.cached_tokens or 0:,}/{answer.prompt_tokens or 0:,}",
    )  # fmt: skip


def _over(name: str, answers: Sequence[Answer], of: Callable[[list[float]], float]) -> tuple[str, ...]:
    def cell(number: str, shown: Callable[[Any], str]) -> str:
        values = [value for value in (getattr(answer, number) for answer in answers) if value is not None]
        return shown(of(values)) if values else units.NONE

    return (
        name, cell("decode_tok_s", units.rate), cell("accept_length", units.accept), cell("ttft_s", units.seconds),
        cell("tpot_ms", units.milliseconds), cell("prefill_tok_s", units.rate),
        cell("completion_tokens", lambda value: f"{value:,.0f}"), "",
    )  # fmt: skip


def histogram_lines(steps: Sequence[int] | None, width: int = WIDE) -> list[str]:
    """One bar for each number of drafts that a step accepted."""
    if not steps or not sum(steps):
        return []
    most, whole, long = max(steps), sum(steps), max(4, min(BAR, width - BESIDE_BAR))
    lines = ["drafts accepted a step"]
    for accepted, count in enumerate(steps):
        bar = "█" * round(count / most * long) or ("▏" if count else "")
        lines.append(f"{accepted:>3}  {bar:<{long}}  {count:>6,}  {count / whole * 100:>3.0f} %")
    return lines


def compare_lines(plan: Plan, found: Sequence[AnyFound], width: int = WIDE) -> list[str]:
    """A line a configuration: medians so far, and the ratio to the first, without intervals."""
    everything = shares(found, len(plan.configurations))
    rows = [_configuration(plan, place, everything) for place in range(len(everything))]
    return fitting(("configuration", "tok/s", "ratio", "accept", "TTFT", "answers"), rows, width)


def _configuration(plan: Plan, place: int, everything: Sequence[Share]) -> tuple[str, ...]:
    share, first = everything[place], everything[0]
    name, counted = plan.configurations[place].name, share.counted
    if not counted:
        starts = share.starts
        said = "waits" if not starts else "did not run" if starts[-1].failure else "warming up"
        return (name, said, "", "", "", f"0/{plan.answers // len(plan.configurations)}")
    against = None if share is first else _ratio(first, share)
    return (
        name, _median(counted, "decode_tok_s", units.rate), "1.00x" if share is first else against or units.NONE,
        _median(counted, "accept_length", units.accept), _median(counted, "ttft_s", units.seconds),
        f"{len(counted)}/{plan.answers // len(plan.configurations)}",
    )  # fmt: skip


def _median(answers: Sequence[Answer], number: str, shown: Callable[[Any], str]) -> str:
    values = [value for value in (getattr(answer, number) for answer in answers) if value is not None]
    return shown(median(values) if values else None)


def _ratio(first: Share, share: Share) -> str | None:
    """Of medians, prompt by prompt, as in the record; its interval would take too long here."""
    before, after = first.groups("decode_tok_s"), share.groups("decode_tok_s")
    both = [median(after[name]) / median(before[name]) for name in before if name in after and median(before[name]) > 0]
    return f"{median(both):.2f}x" if both else None

"""Whether two records may be compared, and what the comparison says.

What must be the same: the model, the prompts, the sampling with its seeds, the length of the answers, whether the
prefix cache was defeated, whether the runs were warm, the rules that judged the answers, and the memory fraction.
Machine, versions and settings may differ: they are what one compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spark_chat.lab.statistics import mcnemar, ratio
from spark_chat.lab.summary import memory_fraction

Record = dict[str, Any]
MEMORY_FRACTION = "mem_fraction_static"


class NotComparable(Exception):
    """`reasons`: a sentence each."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__(" ".join(reasons))
        self.reasons = reasons


def obstacles(first: Record, other: Record) -> tuple[str, ...]:
    """Why they can't be compared; empty where they can."""
    return tuple(_obstacles(first, other))


def _obstacles(first: Record, other: Record) -> Iterator[str]:
    if _model(first) != _model(other):
        yield f"The model differs: {_model(first)} and {_model(other)}."
    if first["workload"]["digest"] != other["workload"]["digest"]:
        yield f"The prompts differ: {_prompts(first)} and {_prompts(other)}."
    for name in sorted({*first["sampling"], *other["sampling"]}):
        before, after = first["sampling"].get(name), other["sampling"].get(name)
        if before != after:
            what = "The seeds differ" if name == "seed" else f"The sampling differs in {name}"
            yield f"{what}: {_said(before)} and {_said(after)}."
    if first["fixed_length"] != other["fixed_length"]:
        yield "One has answers of a fixed length, the other ends them where the text ends."
    if first["fresh"] != other["fresh"]:
        yield "One defeats the prefix cache with --fresh, the other does not."
    if _warm(first) != _warm(other):
        yield f"One has {_warm(first)}, the other {_warm(other)}: cold and warm runs are not comparable."
    if first["workload"]["extraction"] != other["workload"]["extraction"]:
        yield (
            f"The answers are judged by different rules: {_said(first['workload']['extraction'])} and "
            f"{_said(other['workload']['extraction'])}."
        )
    if _fraction(first) != _fraction(other):
        yield f"The memory fraction differs: {_said(_fraction(first))} and {_said(_fraction(other))}."


def _model(record: Record) -> str:
    return next((str(item["model"]) for item in record["configurations"] if item.get("model")), "none that came up")


def _prompts(record: Record) -> str:
    workload = record["workload"]
    return f"{workload['name']} ({workload['digest']})"


def _warm(record: Record) -> str:
    counted = {item["counted"] for item in record["configurations"] if item["runs_counted"]}
    return "cold runs" if counted == {"all runs"} else "warm runs"


def _fraction(record: Record) -> str | None:
    """As the engines took it, else as it was set; of several all."""
    found = set()
    for item in record["configurations"]:
        arguments = item["all_settings"].get("engine.args", {}).get("value") or {}
        taken = memory_fraction(item["facts"])
        found.add(arguments.get(MEMORY_FRACTION) if taken is None else taken)
    known = sorted(str(value) for value in found if value is not None)
    return " and ".join(known) or None


def _said(value: Any) -> str:
    return "none" if value is None else str(value)


def diff(first: Record, other: Record) -> list[dict[str, Any]]:
    """Each configuration of `first` beside the one of `other` with the same settings varied; where there is one alone
    on each side, those. `ratio`: of decode tok/s, other over first. Raises NotComparable."""
    reasons = obstacles(first, other)
    if reasons:
        raise NotComparable(reasons)
    found = []
    for before, after in _pairs(first, other):
        found.append({
            "first": before["name"], "other": after["name"],
            "first_decode_tok_s": before["decode_tok_s"], "other_decode_tok_s": after["decode_tok_s"],
            "first_accept_length": before["accept_length"], "other_accept_length": after["accept_length"],
            "first_ttft_s": before["ttft_s"], "other_ttft_s": after["ttft_s"],
            "ratio": _ratio(before, after),
            "mcnemar": _mcnemar(before, after),
        })  # fmt: skip
    if not found:
        raise NotComparable(("They vary different settings, and no configuration of one is in the other.",))
    return found


def _pairs(first: Record, other: Record) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    if len(first["configurations"]) == len(other["configurations"]) == 1:
        return [(first["configurations"][0], other["configurations"][0])]
    return [(before, after) for before in first["configurations"] for after in other["configurations"]
            if before["settings"] == after["settings"]]  # fmt: skip


def _counted(configuration: dict[str, Any]) -> list[dict[str, Any]]:
    whole = [run for run in configuration["runs"] if run["role"] == "measured" and not run["failure"]
             and run["finish_reason"] not in ("abort", "failed", None)]  # fmt: skip
    return [run for run in whole if not run["cold"]] or whole


def _ratio(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any] | None:
    groups: list[dict[str, list[float]]] = []
    for configuration in (before, after):
        found: dict[str, list[float]] = {}
        for run in _counted(configuration):
            if run["decode_tok_s"] is not None:
                found.setdefault(run["item"], []).append(run["decode_tok_s"])
        groups.append(found)
    against = ratio(*groups)
    return None if against is None else against.as_json()


def _mcnemar(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any] | None:
    theirs, mine = ({(run["item"], run["round"]): run["right"] for run in _counted(side) if run["right"] is not None}
                    for side in (before, after))  # fmt: skip
    both = theirs.keys() & mine.keys()
    if not both:
        return None
    gained = sum(bool(mine[key]) and not theirs[key] for key in both)
    lost = sum(bool(theirs[key]) and not mine[key] for key in both)
    return {"questions": len(both), "gained": gained, "lost": lost, "p": mcnemar(lost, gained)}

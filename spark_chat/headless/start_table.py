"""Where the time of a start went, stage by stage, cold and warm: what `spark-chat doctor --start` prints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from spark_chat.driver.starts import Start
from spark_chat.meters.units import NONE, seconds

TITLES = {
    "memory": "waiting for memory",
    "kernels": "kernels, built with no model loaded",
    "start": "imports and processes",
    "weights": "reading the weights",
    "draft": "loading the draft",
    "caches": "setting up the caches",
    "attention": "preparing attention",
    "graphs": "capturing graphs",
    "warm-up": "warm-up",
}
WIDTH = 46


def tables(noted: Iterable[Start]) -> dict[str, dict[bool, Start]]:
    """The last cold and the last warm start of each configuration, the newest configuration first."""
    found: dict[str, dict[bool, Start]] = {}
    for start in noted:
        found.setdefault(start.key, {}).setdefault(start.cold, start)
    return found


def as_lines(noted: Iterable[Start]) -> list[str]:
    """A table a configuration; a sentence where there is none."""
    lines: list[str] = []
    for kinds in tables(noted).values():
        one = next(iter(kinds.values()))
        lines += ["", f"{_cut(f'{one.model} on {one.engine}')}{'cold':>12}{'warm':>12}"]
        took = {cold: {stage.name: stage.seconds for stage in start.stages} for cold, start in kinds.items()}
        for name in dict.fromkeys(stage.name for start in kinds.values() for stage in start.stages):
            title = TITLES.get(name, name)
            lines.append(_cut(f"  {title}") + "".join(f"{_at(took, cold, name):>12}" for cold in (True, False)))
        whole = {cold: {"": start.seconds} for cold, start in kinds.items()}
        lines.append(_cut("  in all") + "".join(f"{_at(whole, cold, ''):>12}" for cold in (True, False)))
    if not lines:
        return ["No engine was started here yet."]
    return [*lines[1:], "", "Cold: kernels were compiled, or most of the weights came from the disk."]


def _cut(text: str) -> str:
    short = text if len(text) < WIDTH else text[: WIDTH - 2] + "…"
    return f"{short:<{WIDTH}}"


def _at(took: dict[bool, dict[str, float]], cold: bool, name: str) -> str:
    found = took.get(cold, {}).get(name)
    return NONE if found is None else seconds(found)


def as_json(noted: Iterable[Start]) -> list[dict[str, Any]]:
    return [
        {
            "engine": start.engine, "model": start.model, "cold": start.cold, "when": round(start.when),
            "stages": {stage.name: stage.seconds for stage in start.stages}, "seconds": round(start.seconds, 3),
        }
        for kinds in tables(noted).values() for start in kinds.values()
    ]  # fmt: skip

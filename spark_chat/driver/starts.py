"""How long starts took, stage by stage: the last cold and the last warm one of each configuration, in a file of the
app's own. It serves the estimate of the time left, and `doctor --start`'s table."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spark_chat import locations, ordinary
from spark_chat.meters.session import Stage
from spark_chat.recipe.recipe import Recipe
from spark_chat.settings.atomic import write_whole
from spark_chat.settings.problem import CannotSave

KEPT = 16
LARGEST = 1 << 20


@dataclass(frozen=True)
class Start:
    """One start that came up. `key` tells the configuration; `cold`: kernels were built, or the weights came from the
    disk. `when`: Unix time, seconds."""

    key: str
    engine: str
    model: str
    cold: bool
    when: float
    stages: tuple[Stage, ...]

    @property
    def seconds(self) -> float:
        return sum(stage.seconds for stage in self.stages)


def key(recipe: Recipe) -> str:
    """The same for recipes whose starts do the same."""
    decides = [
        recipe.engine, recipe.model.path, recipe.context, sorted(recipe.load().optimizations.items()), recipe.options,
        recipe.args,
    ]  # fmt: skip
    text = json.dumps(decides, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def of(recipe: Recipe, stages: Sequence[Stage], cold: bool, when: float | None = None) -> Start:
    """A stage that came twice took what both took."""
    took: dict[str, float] = {}
    for stage in stages:
        took[stage.name] = round(took.get(stage.name, 0.0) + stage.seconds, 3)
    now = time.time() if when is None else when
    found = tuple(Stage(name, seconds) for name, seconds in took.items())
    return Start(key(recipe), recipe.engine, recipe.model.name, cold, now, found)


def read(path: Path | None = None) -> tuple[Start, ...]:
    """All that are noted, the newest first; none where the file is missing or broken. Raises nothing."""
    try:
        content = json.loads(ordinary.read(path or _path(), LARGEST))
        return tuple(start for entry in content if (start := _start(entry)) is not None)
    except (OSError, ValueError, TypeError, RecursionError, locations.NoHome):
        return ()


def note(start: Start, path: Path | None = None) -> None:
    """Keep it in place of the last one of its kind. Raises nothing: the next start only knows less."""
    others = [one for one in read(path) if (one.key, one.cold) != (start.key, start.cold)]
    content = [
        {"key": one.key, "engine": one.engine, "model": one.model, "cold": one.cold, "when": round(one.when),
         "stages": [[stage.name, stage.seconds] for stage in one.stages]}
        for one in [start, *others][:KEPT]
    ]  # fmt: skip
    with suppress(OSError, ValueError, CannotSave, locations.NoHome):
        target = path or _path()
        locations.made(target.parent)
        write_whole(target, json.dumps(content, indent=1).encode("utf-8", "replace"))


def last(recipe: Recipe, cold: bool, path: Path | None = None) -> tuple[Stage, ...]:
    """Stages of the last start like it; of the other kind, where there was none of this one."""
    known = key(recipe)
    same = [start for start in read(path) if start.key == known]
    return next((start.stages for start in sorted(same, key=lambda one: one.cold != cold)), ())


def _path() -> Path:
    return locations.state() / "starts.json"


def _start(entry: Any) -> Start | None:
    try:
        stages = tuple(Stage(str(name), float(seconds)) for name, seconds in entry["stages"])
        if not all(math.isfinite(stage.seconds) and stage.seconds >= 0 for stage in stages):
            return None
        return Start(
            str(entry["key"]), str(entry["engine"]), str(entry["model"]), bool(entry["cold"]), float(entry["when"]),
            stages,
        )  # fmt: skip
    except (KeyError, TypeError, ValueError):
        return None

"""What the app notes for itself in state.toml: the last configuration that ran, and how long its start took."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spark_chat import locations, ordinary
from spark_chat.settings import noted
from spark_chat.settings.atomic import write_whole
from spark_chat.settings.file import LARGEST
from spark_chat.settings.flat import flat, settings_of
from spark_chat.settings.problem import CannotSave
from spark_chat.settings.schema import Settings

_HEAD = "# Kept by spark-chat for itself: the last configuration that ran. It may be deleted at any time.\n"


@dataclass(frozen=True)
class State:
    """`settings` by dotted key, as they ran; `engine` and `model` by name. `stages`: stage -> seconds, of the last
    start that came up. All empty where nothing ever ran."""

    settings: dict[str, Any] = field(default_factory=dict)
    engine: str = ""
    model: str = ""
    stages: dict[str, float] = field(default_factory=dict)

    @property
    def ran(self) -> Settings | None:
        """The settings that ran last; a value that is no longer valid becomes its default. None: nothing ever ran."""
        return settings_of(self.settings) if self.engine else None

    @staticmethod
    def of(settings: Settings, engine: str, model: str, stages: Mapping[str, float]) -> State:
        return State(flat(settings), engine, model, dict(stages))


def load_state(path: Path | None = None) -> State:
    """What was noted; nothing, where the file is missing or broken in any way. Raises nothing."""
    try:
        tree = tomllib.loads(ordinary.read(path or locations.state_file(), LARGEST).decode("utf-8"))
        engine, model = tree["engine"], tree["model"]
        settings, stages = tree["settings"], tree["stages"]
        if not (isinstance(engine, str) and isinstance(model, str) and isinstance(settings, dict)):
            return State()
        seconds = {str(name): float(took) for name, took in stages.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, locations.NoHome):
        return State()
    return State(settings, engine, model, {name: took for name, took in seconds.items() if math.isfinite(took)})


def save_state(state: State, path: Path | None = None) -> None:
    """Notes it, whole or not at all. Raises CannotSave, which a caller may only say: nothing depends on it."""
    import tomli_w

    content: dict[str, object] = {
        "engine": state.engine,
        "model": state.model,
        "stages": state.stages,
        "settings": {key: value for key, value in state.settings.items() if value is not None},
    }
    try:
        path = path or locations.state_file()
        locations.made(path.parent)
        with noted.LOCK:
            text = _HEAD + tomli_w.dumps({**noted.all_of(path), **content})
            write_whole(path, text.encode("utf-8", "replace"))
    except (OSError, TypeError, ValueError, locations.NoHome) as error:
        raise CannotSave(f"The last configuration could not be noted: {error}") from error

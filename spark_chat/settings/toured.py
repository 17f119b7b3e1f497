"""Whether the tour was shown on this machine: a line of state.toml, beside the last configuration that ran."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from spark_chat import locations, ordinary
from spark_chat.settings.atomic import write_whole
from spark_chat.settings.file import LARGEST
from spark_chat.settings.problem import CannotSave

KEY = "tour_shown"


def shown(path: Path | None = None) -> bool:
    """Whether it was; True where that cannot be known, so that nobody gets it at every start. Raises nothing."""
    try:
        return _tree(path or locations.state_file()).get(KEY) is True
    except FileNotFoundError:
        return False
    except (OSError, ValueError, RecursionError, locations.NoHome):
        return True


def note(path: Path | None = None) -> None:
    """It was shown. Where that cannot be written, it is shown again at the next start."""
    import tomli_w

    try:
        path = path or locations.state_file()
        locations.made(path.parent)
        try:
            tree = _tree(path)
        except FileNotFoundError:
            tree = {}
        write_whole(path, tomli_w.dumps({KEY: True, **tree}).encode("utf-8", "replace"))
    except (OSError, TypeError, ValueError, RecursionError, CannotSave, locations.NoHome):
        return


def _tree(path: Path) -> dict[str, Any]:
    return tomllib.loads(ordinary.read(path, LARGEST).decode("utf-8"))

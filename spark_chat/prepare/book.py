"""What was compiled already by the versions that are installed, and how long it took, in a file beside the kernels.

An update of what compiles begins a new folder (`recipe.kernel_cache`), and with it an empty book: so each task is done
once a version. Times of older versions serve as estimates.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spark_chat import locations
from spark_chat.recipe import kernel_cache

NAME = "prepared.json"


@dataclass(frozen=True)
class Book:
    """`folder`: the kernels'. Reading never raises: a book that can't be read is an empty one."""

    folder: Path

    @classmethod
    def here(cls) -> Book:
        """That of the installed versions. Raises NoHome."""
        return cls(kernel_cache.folder())

    def done(self) -> dict[str, float]:
        """Task's key -> seconds that it took."""
        return _read(self.folder / NAME)

    def took(self) -> dict[str, float]:
        """The same, with older versions' where this one has none yet."""
        found: dict[str, float] = {}
        try:
            others = sorted(self.folder.parent.glob(f"*/{NAME}"))
        except OSError:
            others = []
        for other in others:
            found |= _read(other)
        return found | self.done()

    def note(self, key: str, seconds: float) -> None:
        """Whole or not at all; by one at a time (`prepare.alone`). Raises OSError."""
        locations.made(self.folder)
        content = self.done() | {key: round(seconds, 1)}
        written = self.folder / f".{NAME}.new"
        written.write_text(json.dumps(content, indent=1, sort_keys=True))
        written.replace(self.folder / NAME)

    def forget(self) -> None:
        """So that all is done once more. Raises OSError."""
        (self.folder / NAME).unlink(missing_ok=True)


def _read(path: Path) -> dict[str, float]:
    try:
        content: Any = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(content, dict):
        return {}
    return {
        key: float(took) for key, took in content.items()
        if isinstance(took, int | float) and not isinstance(took, bool) and 0 <= took < 1e6
    }  # fmt: skip

"""Which log files there are: one of the engine for each start, and one of the app."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from spark_chat import locations

Kind = Literal["engine", "app"]


def app_file() -> Path:
    """The app's own log. Raises NoHome."""
    return locations.logs() / "app.log"


def engine_files() -> list[Path]:
    """The engine's logs, of the newest start first. Raises NoHome."""
    return sorted(locations.logs().glob("worker-*.log"), key=_age, reverse=True)


def newest(kind: Kind) -> Path | None:
    """The log to look at; None where there is none yet. Raises NoHome."""
    if kind == "app":
        return app_file() if app_file().is_file() else None
    return next(iter(engine_files()), None)


def _age(path: Path) -> tuple[float, str]:
    try:
        return path.stat().st_mtime, path.name
    except OSError:
        return 0.0, path.name

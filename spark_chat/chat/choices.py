"""The settings in force while the chat runs: changed here one line at a time, and noticed when changed elsewhere.

A file that turns invalid while the chat runs changes nothing: what was in force stays, and the problem is told.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from spark_chat.settings.schema import Row, Settings, rows, value

if TYPE_CHECKING:
    from spark_chat.settings.resolve import Resolved
    from spark_chat.settings.watch import Signature

OVERRIDING = ("environment", "command line")


def as_text(row: Row, found: Any) -> str | None:
    """A value as `save` takes it; None for the default, which is the key left out."""
    if found is None or found == row.default:
        return None
    if isinstance(found, bool):
        return "true" if found else "false"
    return inline(found) if row.kind == "table" else str(found)


def inline(found: object) -> str:
    """A table as one writes it on a line of TOML."""
    import tomlkit

    if isinstance(found, dict):
        return "{ " + ", ".join(f"{name} = {inline(item)}" for name, item in found.items()) + " }"
    return tomlkit.item(found).as_string()


class Choices:
    """`first` are the settings the app was started with: those that take effect at its next start stay as there."""

    def __init__(self, resolved: Resolved) -> None:
        self.first = resolved.settings
        self.resolved = resolved
        self.problems: tuple[str, ...] = tuple(map(str, resolved.problems))
        self.theme_problems: tuple[str, ...] = ()
        """What was wrong with theme files at the start."""
        self._seen = self._signature()

    def _signature(self) -> Signature | None:
        from spark_chat.settings.watch import signature

        return signature(self.resolved.path)

    def look(self) -> bool:
        """Read the file again where it changed since the last look. True where anything came of it."""
        seen = self._signature()
        if seen == self._seen:
            return False
        self._seen = seen
        return self._read()

    def _read(self) -> bool:
        fresh = self.resolved.again()
        problems = tuple(map(str, fresh.problems))
        if any(problem.layer == "file" for problem in fresh.problems):
            changed = problems != self.problems
            self.problems = problems
            return changed
        changed = (fresh.settings, problems, fresh.saved) != (
            self.resolved.settings,
            self.problems,
            self.resolved.saved,
        )
        self.resolved, self.problems = fresh, problems
        return changed

    def save(self, key: str, text: str | None) -> None:
        """Save what `text` says for `key`, or take it out of the file where it is None. Blocks on the disk.

        Raises SettingsError with a sentence; the file is then as it was.
        """
        from spark_chat.settings.problem import CannotSave
        from spark_chat.settings.save import save
        from spark_chat.settings.tree import UNSET
        from spark_chat.settings.values import read

        path = self.resolved.path
        if path is None:
            raise CannotSave("No place for a settings file is known. Set HOME or XDG_CONFIG_HOME.")
        row = next(row for row in rows() if row.key == key)
        save(path, {key: UNSET if text is None else read(row, text)})
        self._seen = self._signature()
        self._read()

    # ------------------------------------------------------------------ for whoever shows them

    def running(self, row: Row, started_with: Settings) -> Any:
        """The value at work now; `started_with`: what the engine was started with."""
        if not row.restart:
            return value(self.resolved.settings, row.key)
        return value(self.first if row.key.startswith("ui.") else started_with, row.key)

    def saved(self, row: Row) -> Any:
        """The value in the file, or its default."""
        return value(self.resolved.saved, row.key)

    def overridden_by(self, row: Row) -> str:
        """The variable or flag that stands over the file's value; empty where none does."""
        origin = self.resolved.origins.get(row.key)
        return str(origin) if origin is not None and origin.layer in OVERRIDING else ""

    def for_this_run(self, settings: Settings) -> Resolved:
        """The settings in force with these in their place, for a choice that is not to be saved."""
        return replace(self.resolved, settings=settings)

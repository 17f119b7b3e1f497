"""The command palette's entries: the table of commands, the saved prompts, and the themes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.keys import format_key

from spark_chat.tui import commands, keymap
from spark_chat.tui.themes import IN_USE, ordered

if TYPE_CHECKING:
    from spark_chat.tui.app import SparkApp


class CommandTable(Provider):
    """One entry a command; those that take an argument run without it."""

    def _entries(self) -> list[tuple[str, str, str]]:
        found = []
        for command in commands.COMMANDS:
            keys = ", ".join(map(format_key, keymap.keys_of(command.name, command.keys)))
            keys = f"  ({keys})" if keys else ""
            found.append((command.name, f"/{command.name}{keys}", command.help))
        return found

    async def startup(self) -> None:
        self._library = await cast("SparkApp", self.app).writing.library()

    def _saved(self) -> list[tuple[str, str, str, str]]:
        """Command, argument, title and help of each saved prompt."""
        prompts = [("prompt", item) for item in self._library.prompts.values()]
        prompts += [("system", item) for item in self._library.systems.values()]
        return [(kind, item.name, f"/{kind} {item.name}", item.about) for kind, item in prompts]

    async def discover(self) -> Hits:
        for name, title, help in self._entries():
            yield DiscoveryHit(title, partial(self._run, name), help=help)
        for name, argument, title, help in self._saved():
            yield DiscoveryHit(title, partial(self._run, name, argument), help=help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, title, help in self._entries():
            score = max(matcher.match(title), matcher.match(help))
            if score > 0:
                yield Hit(score, matcher.highlight(title), partial(self._run, name), help=help)
        for name, argument, title, help in self._saved():
            score = max(matcher.match(title), matcher.match(help))
            if score > 0:
                yield Hit(score, matcher.highlight(title), partial(self._run, name, argument), help=help)

    def _run(self, name: str, argument: str = "") -> None:
        cast("SparkApp", self.app).run_command(name, argument)


class ThemeTable(Provider):
    """Every theme; the one in use says so."""

    def _entries(self) -> list[tuple[str, str]]:
        """Name and title of each."""
        names = ordered(self.app.available_themes)
        return [(name, f"{name}  ({IN_USE})" if name == self.app.theme else name) for name in names]

    async def discover(self) -> Hits:
        for name, title in self._entries():
            yield DiscoveryHit(title, partial(self._use, name))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for place, (name, title) in enumerate(self._entries()):
            if matcher.match(name) > 0:  # as listed, those first that have the very word
                score = 1 / (1 + place) + (query.lower() in name.lower())
                yield Hit(score, matcher.highlight(title), partial(self._use, name))

    def _use(self, name: str) -> None:
        cast("SparkApp", self.app).use_theme(name)


def theme_picker() -> CommandPalette:
    """A palette of the themes."""
    return CommandPalette(providers=[ThemeTable], placeholder="Search for themes…")

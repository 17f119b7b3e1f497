"""The places of an inserted prompt, filled in one after the other in the composer itself. Pure.

All text is the composer's document; positions are characters from its start.
"""

from __future__ import annotations

from dataclasses import dataclass

from spark_chat.prompts.prompt import PLACE, Prompt


@dataclass(frozen=True)
class Step:
    """The document as it is to be, and what is to be selected in it; the cursor alone where both are the same."""

    document: str
    start: int
    end: int


@dataclass(frozen=True)
class _Open:
    """The place that is being filled in: its name, and the text around it."""

    name: str
    before: str
    after: str


class Slots:
    """Those of the prompts that were inserted since the composer was empty."""

    def __init__(self) -> None:
        self._defaults: dict[str, str | None] = {}
        self._open: _Open | None = None

    @property
    def active(self) -> bool:
        """Whether there may be places to fill in."""
        return bool(self._defaults)

    def clear(self) -> None:
        self._defaults, self._open = {}, None

    def begin(self, prompt: Prompt) -> None:
        """`prompt` was inserted."""
        for name in prompt.places:
            self._defaults.setdefault(name, prompt.defaults.get(name))

    def step(self, document: str, cursor: int, forward: bool = True) -> Step | None:
        """On to the next place, or back to the one before: what was written in the last one goes to all of its name.
        After the last place the cursor alone moves on. None where there was no place."""
        was_open = self._open is not None
        document, start, end = self._settled(document, cursor)
        places = self._places(document)
        if not places:
            self.clear()
            return Step(document, end, end) if was_open else None
        if forward:
            first, last, name = next((place for place in places if place[0] >= end), places[0])
        else:
            first, last, name = next((place for place in reversed(places) if place[1] <= start), places[-1])
        self._open = _Open(name, document[:first], document[last:])
        return Step(document, first, last)

    def finished(self, document: str) -> str:
        """The document as it is to be sent: what was written went to all of its name, and what was not written is
        what stands in for it, where something does."""
        document, _, _ = self._settled(document, 0)
        for name, default in self._defaults.items():
            if default is not None:
                document = _filled(document, name, default)
        return document

    def left(self, document: str) -> tuple[str, ...]:
        """Names of the places that are still to be filled in, with nothing that stands in for them."""
        found = {name for _, _, name in self._places(document) if self._defaults.get(name) is None}
        return tuple(name for name in self._defaults if name in found)

    def _places(self, document: str) -> list[tuple[int, int, str]]:
        return [
            (found.start(), found.end(), found[1]) for found in PLACE.finditer(document) if found[1] in self._defaults
        ]

    def _settled(self, document: str, cursor: int) -> tuple[str, int, int]:
        """With the place that was open left behind, and where what is written in it starts and ends."""
        place, self._open = self._open, None
        if place is None:
            return document, cursor, cursor
        before, after = place.before, place.after
        if len(document) < len(before) + len(after) or not (document.startswith(before) and document.endswith(after)):
            return document, cursor, cursor  # more was changed than that place
        value = document[len(before) : len(document) - len(after)]
        if PLACE.fullmatch(value):
            value = self._defaults.get(place.name) or value
        if value and not PLACE.fullmatch(value):
            before, after = _filled(before, place.name, value), _filled(after, place.name, value)
        return f"{before}{value}{after}", len(before), len(before) + len(value)


def _filled(document: str, name: str, value: str) -> str:
    return PLACE.sub(lambda found: value if found[1] == name else found[0], document)

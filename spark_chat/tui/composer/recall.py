"""Earlier prompts, one key away, with the draft below them. Pure.

A shelf of documents: the earlier prompts, oldest first, and at the bottom the draft. Leaving one keeps its edits until
a prompt is sent; then each earlier prompt is again as it was.
"""

from __future__ import annotations

LONGEST = 500


class Recall:
    def __init__(self) -> None:
        self._prompts: list[str] = []
        self._edits: dict[int, str] = {}
        self._at = 0

    def fill(self, prompts: list[str]) -> None:
        """Puts `prompts`, oldest first, before those of this session."""
        room = LONGEST - len(self._prompts)
        older = prompts[-room:] if room > 0 else []
        self._prompts = older + self._prompts
        self._edits = {place + len(older): text for place, text in self._edits.items()}
        self._at += len(older)

    def add(self, documents: list[str]) -> None:
        """Puts `documents`, oldest first, behind all prompts there are; what is shown stays."""
        end = len(self._prompts)
        self._prompts += documents
        if self._at == end:
            self._at = len(self._prompts)
        if end in self._edits:
            self._edits[len(self._prompts)] = self._edits.pop(end)

    def earlier(self, document: str) -> str | None:
        """The prompt before the one shown, which is left as `document`; None where there is none."""
        return self._go(self._at - 1, document)

    def later(self, document: str) -> str | None:
        """The prompt after the one shown, at last the draft; None below the draft."""
        return self._go(self._at + 1, document)

    def sent(self, document: str) -> None:
        """`document` went out. A draft that was left for a recalled prompt stays the draft: see `draft`."""
        draft = self._edits.get(len(self._prompts), "") if self._at < len(self._prompts) else ""
        if not self._prompts or self._prompts[-1] != document:
            self._prompts.append(document)
            del self._prompts[:-LONGEST]
        self._at = len(self._prompts)
        self._edits = {self._at: draft} if draft else {}

    def given(self) -> None:
        """What is shown was a command and is done: nothing of it stays, and the draft is at the bottom again."""
        draft = self.draft if not self.at_draft else ""
        self._at = len(self._prompts)
        self._edits = {self._at: draft} if draft else {}

    @property
    def draft(self) -> str:
        """What waits at the bottom while an earlier prompt is shown or was just sent."""
        return self._edits.get(len(self._prompts), "")

    @property
    def at_draft(self) -> bool:
        return self._at == len(self._prompts)

    def documents(self) -> list[str]:
        """All that can still be shown."""
        return [*self._prompts, *self._edits.values()]

    def _go(self, place: int, document: str) -> str | None:
        if not 0 <= place <= len(self._prompts):
            return None
        self._edits[self._at] = document
        self._at = place
        return self._edits.get(place, self._prompts[place] if place < len(self._prompts) else "")

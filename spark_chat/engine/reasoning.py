"""Splits a stream of text into reasoning and answer at `<think>` and `</think>`, however the chunks fall.

Own code rather than SGLang's ReasoningParser: that one pulls in a web framework, and it turns a thought that was cut
off into an answer.
"""

from __future__ import annotations

import re

OPEN, CLOSE = "<think>", "</think>"


def before(text: str, thought: str, opened: bool) -> str:
    """What an answer said so far as it stands behind the template's prompt, to be gone on with. `opened`: that prompt
    ends inside a thought. Where there is no `text`, the thought is left open."""
    if not thought:
        return text
    start = thought if opened else f"{OPEN}\n{thought}"
    return start if not text else f"{start}{'' if thought.endswith(chr(10)) else chr(10)}{CLOSE}\n\n{text}"


class ReasoningSplitter:
    """`opened`: the prompt's template ended in `<think>`, so the text starts inside a thought. `going_on`: the text is
    the rest of an answer, or of a thought.

    The tags themselves, and the blank that a model puts around them, belong to neither part. A `<think>` only counts
    at the very start: later it is text like any other.

    A `</think>` without a begin comes of a model that thinks where its template does not say so. It ends a thought
    where it is the first, stands on a line of its own with more behind it, and in no fenced code; `recast` tells that
    what was given out as the answer was a thought. Any other is text: it may be what the answer is about.
    """

    def __init__(self, opened: bool, going_on: bool = False) -> None:
        self.thinking = opened
        self._started = opened or going_on
        self._held = ""
        self._strip = not going_on
        self._bare = None if opened or going_on else BareEnd()
        self._recast = False

    def told_apart(self) -> None:
        """The engine splits thoughts itself: what is left is text."""
        self.thinking, self._bare = False, None

    def recast(self) -> bool:
        """Whether, since the last call, all text given out as the answer before turned out to be a thought."""
        recast, self._recast = self._recast, False
        return recast

    def feed(self, text: str) -> tuple[str, str]:
        """(reasoning, answer) that are certain so far; what may be the start of a tag is held back."""
        self._held += text
        if not self._started:
            rest = self._held.lstrip()
            if not rest or any(len(rest) < len(tag) and tag.startswith(rest) for tag in (OPEN, CLOSE)):
                return "", ""
            self._started = True
            if rest.startswith(OPEN):
                self.thinking, self._held, self._bare = True, rest[len(OPEN) :], None
            elif rest.startswith(CLOSE):
                self._held, self._bare = rest[len(CLOSE) :], None
        if not self.thinking:
            return self._answer()
        end = self._held.find(CLOSE)
        if end < 0:
            return self._take(len(self._held) - _overlap(self._held, CLOSE)), ""
        thought = self._take(end)
        self._held = self._held[len(CLOSE) :]
        self.thinking, self._strip = False, True
        return thought, self._take(len(self._held))

    def end(self) -> tuple[str, str]:
        """What was held back, once no more will come."""
        rest = self._take(len(self._held))
        return (rest, "") if self.thinking else ("", rest)

    def _answer(self) -> tuple[str, str]:
        if self._bare is None:
            return "", self._take(len(self._held))
        size, end = self._bare.look(self._held)
        before = self._take(size)
        if end is None:
            self._bare = None if self._bare.settled else self._bare
            return "", before
        self._held = self._held[end - size :]
        self._bare, self._recast, self._strip = None, True, True
        return before, self._take(len(self._held))

    def _take(self, count: int) -> str:
        """The first `count` characters held, without the blank lines that a part starts with."""
        taken, self._held = self._held[:count], self._held[count:]
        if self._strip:
            taken = taken.lstrip("\n")
            self._strip = not taken
        return taken


class BareEnd:
    """Looks in an answer for a `</think>` that ends a thought nobody saw begin."""

    def __init__(self) -> None:
        self.settled = False
        """None can come any more: a `<think>` stands in the text."""
        self._line = ""
        """The start of the line at hand, as far as it was given out."""
        self._end = ""
        self._fence = ""

    def look(self, text: str) -> tuple[int, int | None]:
        """`text`: what came and was not given out. How many characters of it can be given out, and where the tag's
        line ends if it was found behind them."""
        at = 0
        while (stop := text.find("\n", at)) >= 0:
            if not self._line and not self._fence and not self.settled and _ALONE.match(text, at, stop):
                return at, stop + 1
            self._pass(text[at:stop])
            self._fenced()
            self._line = ""
            at = stop + 1
        if not self._line and not self._fence and not self.settled and _MAY_BE.match(text, at):
            return at, None
        self._pass(text[at:])
        return len(text), None

    def _pass(self, text: str) -> None:
        self.settled = self.settled or OPEN in self._end + text
        self._end = (self._end + text)[1 - len(OPEN) :]
        self._line += text[: max(0, _LOOKED_AT - len(self._line))]

    def _fenced(self) -> None:
        """A line is whole: does it begin or end fenced code?"""
        mark = _FENCE.match(self._line)
        if mark is None:
            return
        if not self._fence:
            self._fence = mark[1] if "`" not in mark[2] or mark[1][0] == "~" else ""
        elif mark[1].startswith(self._fence) and not mark[2].strip():
            self._fence = ""


_LOOKED_AT = 200
"""Characters of a line's start that are kept, to tell a fence."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_ALONE = re.compile(r" {0,3}</think>[ \t\r]*$")
_MAY_BE = re.compile(r" {0,3}(?:<(?:/(?:t(?:h(?:i(?:n(?:k(?:>[ \t\r]*)?)?)?)?)?)?)?)?\Z")


def _overlap(text: str, tag: str) -> int:
    """Length of the longest end of `text` that `tag` starts with."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)

"""Splits a stream of text into reasoning and answer at `<think>` and `</think>`, however the chunks fall.

Own code rather than SGLang's ReasoningParser: that one pulls in a web framework, and it turns a thought that was cut
off into an answer.
"""

from __future__ import annotations

OPEN, CLOSE = "<think>", "</think>"


def before(text: str, thought: str, opened: bool) -> str:
    """What an answer said so far as it stands behind the template's prompt, to be gone on with. `opened`: that prompt
    ends inside a thought. Where there is no `text`, the thought is left open."""
    if not thought:
        return text
    start = thought if opened else f"{OPEN}\n{thought}"
    return start if not text else f"{start}{'' if thought.endswith(chr(10)) else chr(10)}{CLOSE}\n\n{text}"


class ReasoningSplitter:
    """`opened`: the prompt's template ended in `<think>`, so the text starts inside a thought.

    The tags themselves, and the blank that a model puts around them, belong to neither part. A `<think>` only counts
    at the very start: later it is text like any other. So does a `</think>` alone, of a model that ends a thought that
    its template never began; one behind some text can't be told from text. `going_on`: the text is the rest of an
    answer, or of a thought.
    """

    def __init__(self, opened: bool, going_on: bool = False) -> None:
        self.thinking = opened
        self._started = opened or going_on
        self._held = ""
        self._strip = not going_on

    def feed(self, text: str) -> tuple[str, str]:
        """(reasoning, answer) that are certain so far; what may be the start of a tag is held back."""
        self._held += text
        if not self._started:
            rest = self._held.lstrip()
            if not rest or any(len(rest) < len(tag) and tag.startswith(rest) for tag in (OPEN, CLOSE)):
                return "", ""
            self._started = True
            if rest.startswith(OPEN):
                self.thinking, self._held = True, rest[len(OPEN) :]
            elif rest.startswith(CLOSE):
                self._held = rest[len(CLOSE) :]
        if not self.thinking:
            return "", self._take(len(self._held))
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

    def _take(self, count: int) -> str:
        """The first `count` characters held, without the blank lines that a part starts with."""
        taken, self._held = self._held[:count], self._held[count:]
        if self._strip:
            taken = taken.lstrip("\n")
            self._strip = not taken
        return taken


def _overlap(text: str, tag: str) -> int:
    """Length of the longest end of `text` that `tag` starts with."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:size])), 0)

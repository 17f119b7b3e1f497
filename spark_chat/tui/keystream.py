"""What was typed and what was pasted, told apart in the bytes a terminal sends. Pure: bytes and a clock in.

Why Textual's own parser is not asked (seen in 8.2.8): in a bracketed paste it turns each ESC and what follows it into
key presses, Enter included, and drops NUL; bytes that are not UTF-8 end its input thread; alt+enter (ESC CR) arrives
as Enter; an unbracketed paste arrives as a key press a character. So pastes are taken out before it, byte for byte.

Rules for a paste without brackets:
- Bytes that come together and hold a line end or tab with text after it, several line ends, or more text than a hand
  types between two reads, are a paste; it goes on until `QUIET_S` pass without a byte.
- An Enter at the end of what came is held for `QUIET_S`. Text that follows by then makes it a line of a paste; else it
  is pressed. One at the end of a paste that holds other line ends is the paste's; `hello` and Enter in one read send.
- ESC and a letter at once are alt and the letter; with more text after it, or the letter in a later read, they are the
  escape key and what was typed behind it.
- What a terminal reports on its own (mouse, focus, size, answers to queries) is no sign of either.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

QUIET_S = 0.04
"""Seconds without a byte that end an unbracketed paste, and that make an Enter a key press."""

ESCAPE_S = 0.05
"""Seconds to wait for what belongs to an ESC that ends a read; without it, it was the escape key."""

ESCAPE = b"\x1b[27u"
"""The escape key, in a form that nothing which follows can turn into another key."""

PARTIAL_S = 0.02
"""Seconds to wait for the rest of a paste's opening mark that a read has cut."""

LOST_END_S = 2.0
"""Seconds without a byte within a bracketed paste, after which what came is handed on: its end mark may be lost."""

TYPED_AT_ONCE = 64
"""Characters in one read that still count as typed."""

START, END = b"\x1b[200~", b"\x1b[201~"

_TOKEN = re.compile(
    rb"(?P<report>\x1b\[(?:<[\d;-]*[Mm]|[IO]|\?[\d;]*(?:\$y|[cu])|48;[\d:;]*t|\d+;\d+R))"
    rb"|(?P<alt_enter>\x1b[\r\n])"
    rb"|(?P<escape>\x1b(?=(?:[ -NP-Z\\-~]|[\xc2-\xf4][\x80-\xbf]+)[ -~\r\n\t\xc2-\xf4]"
    rb"|O(?![A-DFHMP-S])[ -~\r\n\t\xc2-\xf4]))"
    rb"|(?P<sequence>\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~]|[^\x1b])?)"
    rb"|(?P<control>[\x00-\x08\x0b\x0c\x0e-\x1f\x7f])"
    rb"|(?P<text>[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+)"
)
_LINE_END = re.compile(rb"[\r\n]")
_TEXT_AFTER_BREAK = re.compile(rb"[\r\n][^\r\n]|\t[^\r\n\t]")
_EVENT_TYPE = re.compile(rb"(\x1b\[[\d:]*;\d+):\d+")


@dataclass(frozen=True)
class Pasted:
    data: bytes

    @property
    def text(self) -> str:
        """Bytes that are not UTF-8 read as U+FFFD."""
        return self.data.decode("utf-8", "replace")


class KeyStream:
    """Bytes in; out come key bytes for Textual and `Pasted` texts, in their order.

    Call `tick` once `deadline` (monotonic seconds, None: nothing waits) has passed.
    """

    def __init__(self) -> None:
        self.deadline: float | None = None
        self._bracketed: bytearray | None = None
        self._stale = False
        self._burst = bytearray()  # an unbracketed paste so far, or the Enters that are held
        self._partial = b""

    def feed(self, data: bytes, now: float) -> list[bytes | Pasted]:
        out: list[bytes | Pasted] = []
        if self._partial == b"\x1b" and _typed_after_escape(data):
            self._partial, self.deadline = b"", None
            self._escape(out)
        data, self._partial = self._partial + data, b""
        while data:
            data = self._in_brackets(data, now, out) if self._bracketed is not None else self._typed(data, now, out)
        return out

    def tick(self, now: float) -> list[bytes | Pasted]:
        out: list[bytes | Pasted] = []
        if self.deadline is None or now < self.deadline:
            return out
        self.deadline = None
        if self._bracketed is not None:
            self._stale = True
            self._hand_on(out)
        elif self._partial:
            rest, self._partial = self._partial, b""
            if rest == b"\x1b":
                self._escape(out)
            else:
                self._keys(rest, now, out)
        else:
            self._release(out)
        return out

    # -- bracketed

    def _in_brackets(self, data: bytes, now: float, out: list[bytes | Pasted]) -> bytes:
        assert self._bracketed is not None
        if self._stale and data in (b"\x1b", b"\x03", b"\x11"):  # nobody is pasting: the person wants out
            self._bracketed, self.deadline = None, None
            return b""
        searched = max(0, len(self._bracketed) - len(END) + 1)
        self._bracketed += data
        end = self._bracketed.find(END, searched)
        if end < 0:
            self._stale, self.deadline = False, now + LOST_END_S
            return b""
        rest = bytes(self._bracketed[end + len(END) :])
        del self._bracketed[end:]
        self._hand_on(out)
        self._bracketed, self.deadline = None, None
        return rest

    def _hand_on(self, out: list[bytes | Pasted]) -> None:
        if self._bracketed:
            out.append(Pasted(bytes(self._bracketed)))
            self._bracketed.clear()

    # -- typed, or pasted without brackets

    def _typed(self, data: bytes, now: float, out: list[bytes | Pasted]) -> bytes:
        start = data.find(START)
        if start < 0:
            cut = next((n for n in range(len(START) - 1, 0, -1) if data.endswith(START[:n])), 0)
            self._keys(data[: len(data) - cut], now, out)
            if cut:
                self._partial = data[-cut:]
                self.deadline = now + (ESCAPE_S if cut == 1 else PARTIAL_S)
            return b""
        self._keys(data[:start], now, out)
        self._release(out)
        self._bracketed, self._stale, self.deadline = bytearray(), False, now + LOST_END_S
        return data[start + len(START) :]

    def _keys(self, data: bytes, now: float, out: list[bytes | Pasted]) -> None:
        for token in _TOKEN.finditer(data):
            kind, piece = token.lastgroup, token[0]
            if kind == "report":
                out.append(piece)
            elif kind == "text":
                self._text(piece, now, out)
            elif kind == "escape":
                self._escape(out)
            else:
                self._release(out, newline=kind != "control")
                out.append(b"\n" if kind == "alt_enter" else _EVENT_TYPE.sub(rb"\1", piece))

    def _escape(self, out: list[bytes | Pasted]) -> None:
        self._release(out, newline=True)
        out.append(ESCAPE)

    def _text(self, text: bytes, now: float, out: list[bytes | Pasted]) -> None:
        if self._burst or _begins_paste(text):
            self._burst += text
        elif text.endswith(b"\r"):
            out.append(text[:-1])
            self._burst += b"\r"
        else:
            out.append(text)
        if self._burst:
            self.deadline = now + QUIET_S

    def _release(self, out: list[bytes | Pasted], newline: bool = False) -> None:
        """What is held goes out: a paste as such; a single Enter as a press, or with `newline` as a newline."""
        burst = bytes(self._burst)
        self._burst.clear()
        if not burst:
            return
        self.deadline = None
        pressed = burst.endswith(b"\r") and len(_LINE_END.findall(burst)) == 1
        body = burst[:-1] if pressed else burst
        if body:
            out.append(Pasted(body))
        if pressed:
            out.append(b"\n" if newline else b"\r")


def _typed_after_escape(data: bytes) -> bool:
    """Whether what comes in a read after an ESC alone was typed behind it, and is no rest of a sequence cut in two."""
    return re.match(rb"[^\x00-\x1f\[O]|O[^A-DFHMP-S]|O.[ -~]", data) is not None


def _begins_paste(text: bytes) -> bool:
    return len(text) > TYPED_AT_ONCE or len(_LINE_END.findall(text)) > 1 or _TEXT_AFTER_BREAK.search(text) is not None

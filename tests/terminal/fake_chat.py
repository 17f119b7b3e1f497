"""The real chat on a terminal, with a scripted engine: `python -m tests.terminal.fake_chat KIND`.

`KIND` is what it answers, of `KINDS`, or digest. Options: `--rate TOK_S` (0: as fast as it goes), `--tokens N`, and
`--key KEY=VALUE` settings, as often as needed.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import os
import sys

from spark_chat.driver.driver import Driver
from spark_chat.engine.protocol import AnyCommand, Generate
from spark_chat.settings.resolve import resolve
from spark_chat.tui.pace import draw_soon
from spark_chat.tui.terminal import refusal
from tests.fakes import MACHINE, FakeEngine, FakeLastRun, FakeModels, Script

TOKEN = 4
"""Characters, about what a token has."""

PROSE = "The quick brown fox jumps over the lazy dog, and then it rests in the shade of a tree. " * 6 + "\n\n"
CODE = "```python\n" + "".join(f"value_{n} = compute({n}, 'text')  # a comment\n" for n in range(4_000)) + "```\n"
TABLE = "| a | b | c |\n|---|---|---|\n" + "".join(f"| row {n} | `code` | **bold** {n} |\n" for n in range(4_000))
HOSTILE = [
    "before \x1b]52;c;aGFja2Vk\x07", "\x1b", "]52;c;aGFja2Vk", "\x07 \x1b[2J\x1b[?1049l", "\x9b31m ",
    "\x1b]0;title\x07", " [/INST] [link=x] [/ ", "\u202egnp.exe \x1b]", "unterminated ", "after.\n",
]  # fmt: skip


def tokens(text: str) -> list[str]:
    return [text[at : at + TOKEN] for at in range(0, len(text), TOKEN)]


KINDS = {
    "words": Script().words, "prose": tokens(PROSE), "code": tokens(CODE), "table": tokens(TABLE), "hostile": HOSTILE,
}  # fmt: skip


class DigestEngine(FakeEngine):
    """Answers with the SHA-256 of the prompt, so that a test sees what arrived."""

    def send(self, command: AnyCommand) -> None:
        if isinstance(command, Generate):
            self.script.words = [hashlib.sha256(command.messages[-1].content.encode()).hexdigest()[:16]]
        super().send(command)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", nargs="?", default="words", choices=[*KINDS, "digest"])
    parser.add_argument("--rate", type=float, default=0.0)
    parser.add_argument("--tokens", type=int)
    parser.add_argument("--key", action="append", default=[])
    chosen = parser.parse_args()
    if sentence := refusal():
        sys.exit(sentence)
    script = Script(words=KINDS.get(chosen.kind, ()), rate=chosen.rate, tokens=chosen.tokens)
    engine = DigestEngine(script) if chosen.kind == "digest" else FakeEngine(script)
    resolved = resolve(["sampling.max_tokens=1000000", "ui.tour=false", *chosen.key])

    def drive(listener):  # type: ignore[no-untyped-def]
        return Driver(listener, MACHINE, engine.client, FakeModels(), FakeLastRun())

    draw_soon(os.environ)  # both as the command line does it
    gc.disable()
    from spark_chat.tui.app import SparkApp
    from spark_chat.tui.tty_driver import TtyDriver

    app = SparkApp(resolved, engine=drive, terminal=TtyDriver)
    app.run(mouse=resolved.settings.ui.mouse)
    sys.exit(app.return_code)


if __name__ == "__main__":
    main()

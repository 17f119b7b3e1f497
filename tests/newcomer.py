"""What a newcomer does: opens the chat, types at once, gets an answer, leaves. On a real pseudo terminal.

    python tests/newcomer.py .venv/bin/spark-chat

Needs pexpect and pyte. The program gets folders of its own below `--folder`, and the person's own pip settings. Says
on stdout how long each thing took; exit status 1, with the screen, where one of them did not come.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pexpect
import pyte

COLUMNS, ROWS = 120, 36
PROMPT = "Say hello."


class Failed(Exception):
    """Something did not come; the text says what."""


class _Screen(pyte.Screen):
    """pyte does not expect the private forms of these two questions."""

    def report_device_status(self, mode: int = 0, **_: object) -> None:
        return

    def report_device_attributes(self, mode: int = 0, **_: object) -> None:
        return


class Terminal:
    """The program at its terminal, and what stands on the screen."""

    def __init__(self, command: str, folder: Path) -> None:
        here = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CACHE", "DATA", "STATE")}
        runtime = folder / "runtime"
        runtime.mkdir(mode=0o700, exist_ok=True)
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SPARK_CHAT"))},
            **here,
            "XDG_RUNTIME_DIR": str(runtime),
            "SPARK_CHAT_CONFIG": str(folder / "settings.toml"),
            "SPARK_CHAT__SAMPLING__TEMPERATURE": "0",  # the small model, left to chance, may talk for a long time
            "SPARK_CHAT__SAMPLING__MAX_TOKENS": "48",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
        }
        self._screen = _Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._screen)
        self.started = time.monotonic()
        self._process = pexpect.spawn(command, cwd=folder, env=environment, dimensions=(ROWS, COLUMNS), timeout=1)

    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display)

    def send(self, keys: str) -> None:
        self._process.send(keys)

    def wait(self, what: str, condition: Callable[[], bool], seconds: float) -> float:
        """Reads until `condition` holds. Returns the seconds since the start. Raises Failed."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise Failed(f"no {what} within {seconds:.0f} s")
            try:
                self._stream.feed(self._process.read_nonblocking(65536, timeout=0.1))
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                raise Failed(f"the program ended before the {what}") from None
        return time.monotonic() - self.started

    def ended(self, seconds: float) -> int:
        """The exit status. Raises Failed where it does not end."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                self._stream.feed(self._process.read_nonblocking(65536, timeout=0.1))
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                self._process.close()
                status = self._process.exitstatus
                return status if status is not None else -int(self._process.signalstatus or 0)
        raise Failed(f"the program did not end within {seconds:.0f} s")

    def family(self) -> set[int]:
        """The program's process and all below it."""
        found, parents = {self._process.pid}, _parents()
        while more := {child for child, parent in parents.items() if parent in found} - found:
            found |= more
        return found

    def kill(self) -> None:
        self._process.close(force=True)


def _parents() -> dict[int, int]:
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(stat.parent.name)] = int(fields[1])
    return parents


def visit(terminal: Terminal, ready: float, answer: float) -> None:
    """The whole visit. Raises Failed."""
    up = terminal.wait("screen with a place to write", lambda: "write here" in terminal.text(), ready)
    print(f"screen up after {up:.1f} s")
    terminal.send(PROMPT)
    typed = terminal.wait("echo of what was typed", lambda: PROMPT in terminal.text(), ready)
    print(f"takes typing after {typed:.1f} s")
    terminal.send("\r")
    line = re.compile(r"\d+ tok · .*TTFT [\d.]+ s")
    answered = terminal.wait("answer with its numbers", lambda: line.search(terminal.text()) is not None, answer)
    print(f"answered after {answered:.1f} s: {line.search(terminal.text())[0]}")  # type: ignore[index]
    family = terminal.family()
    terminal.send("/quit\r")
    status = terminal.ended(15)
    if status != 0:
        raise Failed(f"the exit status was {status}")
    end = time.monotonic() + 5
    while left := family & _parents().keys():
        if time.monotonic() > end:
            raise Failed(f"{len(left)} of {len(family)} processes outlived the program")
    print(f"left with status 0; all {len(family)} processes are gone")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--folder", type=Path, help="where its files go; a temporary one where left out")
    parser.add_argument("--ready", type=float, default=30, help="seconds that the screen may take")
    parser.add_argument("--answer", type=float, default=420, help="seconds for the download, the start and the answer")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        terminal = Terminal(str(options.program.absolute()), folder)
        try:
            visit(terminal, options.ready, options.answer)
        except Failed as failure:
            print(f"FAILED: {failure}. The screen:\n{terminal.text()}", file=sys.stderr)
            return 1
        finally:
            terminal.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What the UI costs the engine: tok/s through the TUI over the same worker driven without one.

`python -m benchmarks.throughput [--rounds N] [--tokens N] [--json]`. Real llama.cpp decoding on this machine, the chat
on a pseudo terminal, answers in turn with and without it, measured in the worker. Text of four shapes (`texts.py`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.latency import SETTLED_S, Terminal
from benchmarks.shown_chat import SETTINGS, client
from benchmarks.texts import KINDS
from spark_chat import locations
from spark_chat.driver.asking import Asking
from spark_chat.driver.driver import Driver
from spark_chat.driver.snapshot import Update
from spark_chat.engine.protocol import Turn
from spark_chat.settings.resolve import resolve
from tests import model_file

LIMIT = 0.98


def rates(path: Path) -> list[float]:
    """tok/s of each answer so far."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [found["tokens"] / found["seconds"] for found in map(json.loads, lines)]


def runtime(home: str, name: str) -> str:
    """A runtime folder of one side's own: of one user's only one engine runs, and here two stand side by side."""
    folder = Path(home) / name
    folder.mkdir(mode=0o700)
    return str(folder)


class Shown:
    """The chat on a terminal."""

    def __init__(self, model: Path, tokens: int, home: str, times: Path) -> None:
        self.times = times
        variables = {
            "SHOWN_TIMES": str(times), "SHOWN_KIND": os.environ["SHOWN_KIND"],
            "XDG_RUNTIME_DIR": runtime(home, "shown.runtime"),
        }  # fmt: skip
        self.terminal = Terminal(["-m", "benchmarks.shown_chat", str(model), str(tokens)], home, variables)
        self.terminal.first_key()
        self.terminal.pass_time(SETTLED_S)

    def ask(self) -> float:
        before = len(rates(self.times))
        self.terminal.write(b"\x15go\r")
        self.terminal.until(lambda: len(rates(self.times)) > before)
        self.terminal.pass_time(1.0)  # its last drawing is over
        return rates(self.times)[-1]


class Unshown:
    """The same worker, driver and meters without a screen."""

    def __init__(self, model: Path, tokens: int, times: Path, folder: str) -> None:
        os.environ["XDG_RUNTIME_DIR"] = folder
        locations._folders.cache_clear()
        self.times, self.loop = times, asyncio.new_event_loop()
        os.environ["SHOWN_TIMES"] = str(times)
        self.settings = resolve([f"engine.model={model}", f"sampling.max_tokens={tokens}", *SETTINGS]).settings
        self.asking = Asking(self._make)
        self.loop.run_until_complete(self.driver.start(self.settings))
        self.count = 0

    def _make(self, listener: Callable[[Update], None]) -> Driver:
        self.driver = Driver(listener, client_factory=client)
        return self.driver

    def ask(self) -> float:
        self.count += 1
        turn = Turn(role="user", content="go")
        self.loop.run_until_complete(self.asking.ask(f"ask-{self.count}", [turn], self.settings))
        return rates(self.times)[-1]

    def close(self) -> None:
        self.loop.run_until_complete(self.driver.close())
        self.loop.close()


def compare(kind: str, model: Path, rounds: int, tokens: int) -> dict[str, Any]:
    """One shape of text. The first answer of each side only warms it."""
    os.environ["SHOWN_KIND"] = kind
    with tempfile.TemporaryDirectory() as home:
        plain = Unshown(model, tokens, Path(home) / "unshown", runtime(home, "unshown.runtime"))
        shown = Shown(model, tokens, home, Path(home) / "shown")
        try:
            pairs = [(shown.ask(), plain.ask()) for _ in range(rounds + 1)][1:]
        finally:
            shown.terminal.process.close(force=True)
            plain.close()
    return {
        "tui_tok_s": statistics.median(pair[0] for pair in pairs),
        "worker_tok_s": statistics.median(pair[1] for pair in pairs),
        "ratio": statistics.median(a / b for a, b in pairs),
        "lowest": min(a / b for a, b in pairs),
        "highest": max(a / b for a, b in pairs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, help="pairs of answers a shape")
    parser.add_argument("--tokens", type=int, default=500, help="length of an answer")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    model = model_file.find()
    found = {kind: compare(kind, model, chosen.rounds, chosen.tokens) for kind in chosen.kinds.split(",")}
    if chosen.json:
        print(json.dumps({"limit": LIMIT, **found}, indent=2))
        return
    print(f"{'text':8}{'TUI tok/s':>11}{'worker tok/s':>14}{'ratio':>8}{'(low':>8}{'high)':>8}   limit {LIMIT}")
    for kind, row in found.items():
        print(f"{kind:8}{row['tui_tok_s']:>11.1f}{row['worker_tok_s']:>14.1f}{row['ratio']:>8.3f}"
              f"{row['lowest']:>8.3f}{row['highest']:>8.3f}")  # fmt: skip


if __name__ == "__main__":
    main()

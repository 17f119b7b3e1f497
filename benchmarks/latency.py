"""How soon the chat takes typing, how soon a key shows, and what memory it has: `python -m benchmarks.latency`.

On a pseudo terminal, as a person has it. For streaming the chat runs with a scripted engine inside its own process,
which costs it more than a worker would. Every figure stands beside that of a bare Textual app of the same run.

- start: `spark-chat` itself with the small model, from the process's start until a key that waited for the first
  drawn screen is shown (s, median). On a busy machine the CPU seconds say more.
- memory: resident set of the UI process once it has settled (MiB).
- key to screen: from the write of a key until its character comes back (ms, p50 and p95), idle and while an answer
  streams at `--rate` tok/s.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import psutil
from ptyprocess import PtyProcess

ROOT = Path(__file__).parents[1]
SIZE = (40, 120)
GIVE_UP_S = 60.0
SETTLED_S = 3.0
"""Seconds after which a start's own work is over."""
STORED = 10_000
"""Messages of a long history."""
KEYS = "".join(map(chr, range(0x430, 0x450)))
"""Cyrillic letters: nothing else on the screen has them, so the bytes can be told at once."""

CHAT = ["-m", "tests.terminal.fake_chat"]
BARE = ["-m", "benchmarks.bare"]


def real_chat() -> list[str]:
    """`spark-chat` with the small model; without one it would fetch it first."""
    from tests import model_file

    return ["-m", "spark_chat", "--model", str(model_file.find())]


class Terminal:
    """A program on a pseudo terminal, its output watched with no more work than a search."""

    def __init__(self, arguments: list[str], home: str, variables: Mapping[str, str] = MappingProxyType({})) -> None:
        environment = {
            "PATH": os.environ["PATH"], "HOME": home, "TERM": "xterm-256color", "COLORTERM": "truecolor",
            "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT), **variables,
        }  # fmt: skip
        self.began = time.perf_counter()
        self.process = PtyProcess.spawn([sys.executable, *arguments], dimensions=SIZE, env=environment, cwd=str(ROOT))
        self.seen = bytearray()

    def write(self, data: bytes) -> None:
        os.write(self.process.fd, data)

    def take_in(self, wait_s: float) -> bool:
        if not select.select([self.process.fd], [], [], wait_s)[0]:
            return False
        try:
            self.seen += os.read(self.process.fd, 65_536)
        except OSError:
            raise SystemExit(f"it ended; its last output: {self.seen[-2_000:].decode(errors='replace')}") from None
        return True

    def until(self, there: Callable[[], bool]) -> float:
        """Seconds on the clock at which `there` came true."""
        deadline = time.perf_counter() + GIVE_UP_S
        while not there():
            if time.perf_counter() > deadline:
                raise SystemExit(f"gave up after {GIVE_UP_S} s; the last output: {bytes(self.seen[-500:])!r}")
            self.take_in(0.5)
        return time.perf_counter()

    def pass_time(self, seconds: float) -> None:
        until = time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > 0:
            self.take_in(left)

    def first_key(self) -> float:
        """Seconds from the process's start until a key is shown."""
        self.until(lambda: b"\x1b[?1049h" in self.seen)
        self.pass_time(0.01)  # past the terminal's own echo
        self.seen.clear()
        key = KEYS[0].encode()
        while key not in self.seen:  # a bare app drops keys until it has a focus
            self.write(key)
            self.take_in(0.01)
            if time.perf_counter() - self.began > GIVE_UP_S:
                raise SystemExit(f"no key was taken within {GIVE_UP_S} s")
        return time.perf_counter() - self.began

    def key_times(self, count: int, seed: int = 7) -> list[float]:
        """Milliseconds from a key to its character, a key every 60 to 140 ms."""
        rhythm = random.Random(seed)
        times = []
        for number in range(count):
            if number % 24 == 0:
                self.write(b"\x15")
            self.pass_time(rhythm.uniform(0.06, 0.14))
            key = KEYS[number % len(KEYS)].encode()
            self.seen.clear()
            began = time.perf_counter()
            self.write(key)
            times.append((self.until(lambda key=key: key in self.seen) - began) * 1_000)
        self.write(b"\x15")
        return times

    def memory(self) -> float:
        """MiB."""
        return psutil.Process(self.process.pid).memory_info().rss / 2**20


@contextmanager
def running(arguments: list[str], home: str | None = None) -> Iterator[Terminal]:
    with tempfile.TemporaryDirectory() as fresh:
        terminal = Terminal(arguments, home or fresh)
        try:
            yield terminal
        finally:
            terminal.process.close(force=True)


def starts(runs: int) -> dict[str, list[tuple[float, float]]]:
    """Seconds on the clock and of the UI process's CPU. Bare and chat in turn, so that both meet the same machine; in
    one home, as on any day but the first."""
    found: dict[str, list[tuple[float, float]]] = {"bare": [], "chat": []}
    with tempfile.TemporaryDirectory() as home:
        for _ in range(runs + 1):
            for name, arguments in (("bare", BARE), ("chat", real_chat())):
                with running(arguments, home) as terminal:
                    wall = terminal.first_key()
                    used = psutil.Process(terminal.process.pid).cpu_times()
                    found[name].append((wall, used.user + used.system))
    return {name: times[1:] for name, times in found.items()}  # the first one warms the disk's cache


def memories() -> dict[str, float]:
    found = {}
    for name, arguments in (("bare", BARE), ("chat", real_chat())):
        with running(arguments) as terminal:
            terminal.first_key()
            terminal.pass_time(SETTLED_S)
            found[name] = terminal.memory()
    with tempfile.TemporaryDirectory() as home:
        fill_history(Path(home) / ".local/share/spark-chat/history.sqlite3")
        with running(real_chat(), home) as terminal:
            terminal.first_key()
            terminal.pass_time(SETTLED_S)
            terminal.write(b"\x15/resume\r")
            terminal.pass_time(2.0)
            terminal.write(b"\r")
            terminal.pass_time(SETTLED_S)
            found["full"] = terminal.memory()
    return found


def fill_history(path: Path) -> None:
    """One conversation of `STORED` messages."""
    from spark_chat.history.journal import Journal, new_id

    journal = Journal(path)
    talk = journal.begin()
    for number in range(STORED // 2):
        prompt, answer = new_id(), new_id()
        journal.prompt(talk, prompt, f"Question {number}?").result(GIVE_UP_S)
        journal.answer_started(talk, answer, prompt)
        journal.append(answer, f"Answer {number} in **Markdown**, with `code`.\n\n- one\n- two\n")
        journal.finish(answer, "done").result(GIVE_UP_S)
    journal.close(GIVE_UP_S)


def keys(kind: str | None, rate: float, count: int) -> list[float]:
    """`kind` None: a bare app; "" : the chat, idle."""
    streamed = [kind, "--rate", str(rate), "--tokens", "1000000"] if kind else []
    with running(BARE if kind is None else [*CHAT, *streamed]) as terminal:
        terminal.first_key()
        terminal.pass_time(SETTLED_S)
        if kind:
            terminal.write(b"\x15go\r")
            terminal.pass_time(3.0)
        return terminal.key_times(count)


def p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--runs", type=int, default=10, help="starts of each app")
    parser.add_argument("--keys", type=int, default=150, help="keys of each measurement")
    parser.add_argument("--rate", type=float, default=300.0, help="tok/s of the streamed answers")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()

    report: dict[str, object] = {}
    times = starts(chosen.runs)
    for place, row in enumerate(("start_s", "start_cpu_s")):
        medians = {name: statistics.median(pair[place] for pair in pairs) for name, pairs in times.items()}
        report[row] = {**medians, "ratio": medians["chat"] / medians["bare"], "limit": 1.6}
    memory = memories()
    report["memory_mib"] = {**memory, "ratio": memory["chat"] / memory["bare"], "limit": 2.0}
    stored = {"bare": memory["bare"], "chat": memory["full"]}
    report["memory_full_mib"] = {**stored, "ratio": memory["full"] / memory["bare"], "limit": 3.5}
    latency = {}
    for name, kind in (("bare idle", None), ("idle", ""), ("prose", "prose"), ("code", "code"), ("table", "table")):
        found = keys(kind, chosen.rate, chosen.keys)
        latency[name] = {"p50": statistics.median(found), "p95": p95(found), "worst": max(found)}
    report["key_ms"] = {**latency, "limit_p95": 33.0}

    if chosen.json:
        print(json.dumps(report, indent=2))
        return
    print(f"{'':22}{'bare':>9}{'chat':>9}{'ratio':>8}{'limit':>8}")
    for name, label in (("start_s", "start, s"), ("start_cpu_s", "start, CPU s"), ("memory_mib", "memory, MiB"),
                        ("memory_full_mib", "10,000 messages, MiB")):  # fmt: skip
        figures = report[name]
        assert isinstance(figures, dict)
        print(f"{label:22}{{bare:>9.2f}}{{chat:>9.2f}}{{ratio:>8.2f}}{{limit:>8.2f}}".format(**figures))
    print(f"\n{'key to screen, ms':22}{'p50':>9}{'p95':>9}{'worst':>8}   (p95 limit {33.0} at {chosen.rate:.0f} tok/s)")
    for name, row in latency.items():
        print(f"{name:22}{row['p50']:>9.1f}{row['p95']:>9.1f}{row['worst']:>8.1f}")


if __name__ == "__main__":
    main()

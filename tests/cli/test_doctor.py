"""`spark-chat doctor` as a process."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from pathlib import Path

from tests.cli.process import ROOT, run
from tests.processes import of_home
from tests.waiting import comes


def test_a_fine_machine(home: Path) -> None:
    examined = run("doctor", "--json")
    assert examined.code == (1 if json.loads(examined.out)["level"] == "wrong" else 0)
    names = [finding["name"] for finding in json.loads(examined.out)["findings"]]
    assert names[0] == "CPU" and "llama.cpp" in names
    assert [path for path in home.rglob("*") if path.is_file()] == [], "it writes nothing"


def test_a_wrong_line_ends_in_1(home: Path) -> None:
    file = home / "settings.toml"
    file.write_text("[optimizations]\nmtp = 7\n")
    examined = run("doctor", "--config", str(file))
    assert examined.code == 1
    line = next(line for line in examined.out.splitlines() if "optimizations.mtp" in line)
    assert line.startswith("✗ wrong") and "line 2" in line
    assert "Traceback" not in examined.err


def test_ended_at_random_moments_it_leaves_no_process_and_what_is_to_be_fixed_is_fixed_later(home: Path) -> None:
    dice = random.Random(7)
    history = home / "data" / "spark-chat" / "history.sqlite3"
    history.parent.mkdir(parents=True)
    history.write_bytes(b"")
    history.chmod(0o644)
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL, signal.SIGINT):
        process = subprocess.Popen(
            [sys.executable, "-m", "spark_chat", "doctor", "--fix"], cwd=ROOT, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, start_new_session=True, text=True,
        )  # fmt: skip
        try:
            process.wait(timeout=dice.uniform(0.05, 1.2))
        except subprocess.TimeoutExpired:
            process.send_signal(sign)
        _, said = process.communicate(timeout=20)
        # Before the command line's own code runs, an interrupt is Python's to tell.
        assert "Traceback" not in said or "spark_chat/headless" not in said, said
        assert comes(lambda: not of_home(home)), f"left behind: {of_home(home)}"
        assert history.exists() and history.stat().st_mode & 0o777 in (0o644, 0o600)
    run("doctor", "--fix")
    assert history.stat().st_mode & 0o777 == 0o600

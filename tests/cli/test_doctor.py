"""`spark-chat doctor` as a process."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.process import run


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

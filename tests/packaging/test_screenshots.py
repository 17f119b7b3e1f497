"""The pictures in docs/ come from the app itself, fetch nothing, and stay small."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.process import ROOT

PICTURES = sorted((ROOT / "docs").glob("*.svg"))


def text_of(svg: str) -> str:
    return " ".join(node.text or "" for node in ElementTree.fromstring(svg).iter() if node.text).replace("\xa0", " ")


def sound(path: Path) -> None:
    svg = path.read_text()
    assert len(svg) < 120_000 and "@font-face" not in svg and "script" not in svg
    assert set(re.findall(r"https?://[^\s\"']+", svg)) == {"http://www.w3.org/2000/svg"}
    assert "spark-chat" in text_of(svg)


def test_the_command_makes_them(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "packaging" / "screenshots.py", "narrow", "settings", "--out", tmp_path],
        capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for path in (tmp_path / "narrow.svg", tmp_path / "settings.svg"):
        sound(path)
    narrow = text_of((tmp_path / "narrow.svg").read_text())
    assert any(words in narrow for words in ("same function", "number * number", "It multiplies")), narrow
    assert re.search(r"llama\.cpp|CPU", narrow) and "1 of 4" not in narrow, "no tour in a picture"
    assert "temperature" in text_of((tmp_path / "settings.svg").read_text())


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.name)
def test_those_in_docs_are_sound_and_shown(path: Path) -> None:
    sound(path)
    assert f"({path.name})" in (ROOT / "docs" / "screens.md").read_text()


def test_there_is_one_of_each_main_screen() -> None:
    assert {"chat.svg", "badges.svg", "settings.svg", "lab.svg"} <= {path.name for path in PICTURES}

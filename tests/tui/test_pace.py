"""How often the screen is drawn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from spark_chat.tui import pace

OPENED = """
import os, sys, types
import spark_chat.cli.main
def run(resolved):
    print(os.environ["TEXTUAL_FPS"], "textual" in sys.modules)
    return 0
sys.modules["spark_chat.tui.app"] = types.SimpleNamespace(run=run)
spark_chat.cli.main.main([])
"""


def test_the_command_line_says_how_often_before_textual_reads_it(home: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", OPENED], capture_output=True, text=True, timeout=60)
    assert ended.stdout.split() == [pace.FRAMES_A_SECOND, "False"], ended.stderr


def test_a_persons_own_value_stays() -> None:
    own = {"TEXTUAL_FPS": "30"}
    pace.draw_soon(own)
    assert own == {"TEXTUAL_FPS": "30"}


def test_an_engine_on_the_processors_leaves_less_for_the_screen() -> None:
    assert pace.share("llama.cpp") < pace.share("sglang")

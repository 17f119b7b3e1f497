"""`pytest -m gpu`: everything that a GPU can show, once, with a table and a record; a test a setting.

The same as `python -m tests.gpu.visit first second recipes lab`, without its hurry; SPARK_CHAT_GPU_SECONDS is the
limit of each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.gpu import record
from tests.gpu.stage_toggles import NAMES, name_of

pytestmark = pytest.mark.gpu

SETTINGS = [(a, b, c) for a in (True, False) for b in (True, False) for c in (True, False)]
PARTS = ("clamp", "check", "tui", "hand", "unshared", "head", "resolve", "lab_oracle", "lab_full")


@pytest.fixture(scope="session")
def visit(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Both halves of a visit, the recipes and the lab, and the record made of them."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no NVIDIA GPU is here")
    out, seconds = tmp_path_factory.mktemp("visit"), os.environ.get("SPARK_CHAT_GPU_SECONDS", "3600")
    paths = []
    for half in ("first", "second", "recipes", "lab"):
        subprocess.run(
            [sys.executable, "-m", "tests.gpu.visit", half, "--out", str(out), "--work", str(out / "work"),
             "--seconds", seconds],
            check=False,
        )  # fmt: skip
        paths.append(out / f"visit-{half}.json")
    print(record.markdown([json.loads(record.write(paths, record.RECORDS).read_text())]))
    found: dict[str, Any] = {}
    for path in paths:
        found |= json.loads(path.read_text())
    return found


@pytest.mark.parametrize("toggles", SETTINGS, ids=name_of)
def test_a_setting_says_the_known_text_with_the_constructed_counts(
    visit: dict[str, Any], toggles: tuple[bool, bool, bool]
) -> None:
    found = visit[name_of(toggles)]
    wanted = {name: "ACTIVE" if on else "OFF" for name, on in zip(NAMES, toggles, strict=True)}
    assert found["states"] == wanted, found["reasons"]
    assert found["text_equal"] and found["counts_equal"] and found["ok"], found["differences"] or found["error"]


@pytest.mark.parametrize("part", PARTS)
def test_a_part(visit: dict[str, Any], part: str) -> None:
    assert visit[part]["ok"], {key: value for key, value in visit[part].items() if key != "log_end"}


def test_the_first_prompt_after_ready_is_as_quick_as_a_later_one(visit: dict[str, Any]) -> None:
    found = visit[name_of((True, True, True))]["first_over_later_ttft"]
    assert found and all(ratio <= 1.2 for ratio in found.values()), found


def test_the_stand_in_was_timed(visit: dict[str, Any]) -> None:
    assert visit["full"]["ok"] and visit["humming"]["ok"]
    assert visit["full"]["app_over_raw"] >= 0.99

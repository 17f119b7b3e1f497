"""The numbers against the engine's own and an independent count: a few requests of `benchmarks.agreement`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.model
@pytest.mark.parametrize("mtp", ["on", "off"])
def test_counts_are_equal_and_times_agree(model: Path, mtp: str) -> None:
    command = [sys.executable, "-m", "benchmarks.agreement", "--requests", "6", "--max-tokens", "16", "--mtp", mtp]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "SPARK_CHAT_TEST_MODEL": str(model)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("equal 6 of 6") == 4

"""The numbers against the engine's own and an independent count: a few requests of `benchmarks.agreement`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.agreement import Stamps, compared
from spark_chat.driver.asking import Run
from spark_chat.meters.numbers import AnswerNumbers

pytestmark = pytest.mark.usefixtures("home")
SHARE = "0.33"
"""Of the requests whose times must be within 1 %. Other work on the machine delays some of six answers by more; a meter
that is wrong is wrong in all of them."""


@pytest.mark.model
@pytest.mark.parametrize("mtp", ["on", "off"])
def test_counts_are_equal_and_times_agree(model: Path, mtp: str) -> None:
    command = [sys.executable, "-m", "benchmarks.agreement", "--requests", "6", "--max-tokens", "48", "--mtp", mtp,
               "--share", SHARE]  # fmt: skip
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "SPARK_CHAT_TEST_MODEL": str(model)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("equal 6 of 6") == 5


def asked(meter: float = 1.0, late: float = 0.0, tokens: int = 40) -> tuple[Run, Stamps]:
    """An answer of a second after a tenth of one: the meter says `meter` times as much, and its end came `late`
    seconds later at the stopwatch."""
    numbers = AnswerNumbers(tokens=tokens, prompt_tokens=30, ttft_s=0.1 * meter, latency_s=1.1 * meter)
    figures: dict[str, object] = {
        "predicted_n": 40,
        "prompt_n": 25,
        "cache_n": 5,
        "predicted_ms": 1000.0,
        "prompt_ms": 99.0,
    }
    return Run("", "", numbers, None, figures), Stamps(asked=5.0, first=5.1, last=6.1 + late, first_tokens=1, tokens=40)


def agree(*all: tuple[Run, Stamps], share: float = float(SHARE), listed: tuple[int, int] = (40, 30)) -> bool:
    return compared([run for run, _ in all], [stamps for _, stamps in all], [listed] * len(all), share)[1]


def test_a_busy_machine_is_told_from_a_wrong_meter() -> None:
    good, delayed = asked(), asked(late=0.05)
    assert agree(*[good] * 6, share=0.5) and agree(*[good] * 2, *[delayed] * 4)
    assert not agree(*[good] * 2, *[delayed] * 4, share=0.5), "over many requests the median must be within 1 %"
    assert not agree(*[asked(meter=1.02)] * 6) and not agree(*[asked(meter=0.98)] * 6)
    assert not agree(*[delayed] * 6)


def test_one_count_that_differs_is_enough() -> None:
    assert not agree(*[asked()] * 5, asked(tokens=39))
    assert not agree(*[asked()] * 6, listed=(41, 30)) and not agree(*[asked()] * 6, listed=(40, 31))

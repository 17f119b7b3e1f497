"""`spark-chat doctor --fix` on a Spark, ended at random moments in every way that a process can be."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.cli.process import Finished
from tests.prepare.compilers import Pace
from tests.prepare.on_spark import DELETES_PACED, TAG, on_spark
from tests.processes import of_home
from tests.waiting import comes

NVIDIA_SMI = """#!/bin/sh
read -r go <"$SPARK_CHAT_TEST_PACE" && echo asked >>"$SPARK_CHAT_TEST_TARGETS/asked"
case "$*" in
    *query-gpu*) echo "580.95.05, [N/A], [N/A], [N/A], 0x0000000000000000" ;;
    *query-compute*) ;;
    *) echo "| NVIDIA-SMI 580.95  CUDA Version: 13.0 |" ;;
esac
"""
FILES = 40
"""Of the kernels of an older version."""


@pytest.fixture
def pace(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pace]:
    tool = home / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(NVIDIA_SMI)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=os.pathsep)
    monkeypatch.setenv(DELETES_PACED, "1")
    with Pace.of(home) as pace:
        yield pace


def ended(process: subprocess.Popen[bytes], way: str, pace: Pace) -> Finished:
    """By a kill, by ctrl+c, or by itself after a kill of what it asks. Nothing of it is left."""
    if way == "child":
        for child in psutil.Process(process.pid).children():
            child.kill()
        pace.release(100)
    else:
        process.send_signal(signal.SIGINT if way == "ctrl+c" else signal.SIGKILL)
    done = Finished(process)
    pace.release(100)  # a program that was asked may answer nobody
    assert comes(lambda: not of_home(pace.home))
    pace.unused()
    codes = {"kill": [-9], "child": [0, 1], "ctrl+c": [130]}  # 1: the machine of this test may lack a compiler
    assert done.code in codes[way] and "Traceback" not in done.err, done.out + done.err
    return done


def test_ended_in_every_way_at_random_moments_it_does_the_rest_later(home: Path, pace: Pace) -> None:
    dice = random.Random(5)
    kernels = home / "cache" / "spark-chat" / "kernels"
    old = kernels / "sglang-1" / "humming"
    old.mkdir(parents=True)
    for number in range(FILES):
        (old / f"kernel{number}.cubin").write_bytes(bytes(1024))
    (kernels / TAG).mkdir()
    (kernels / TAG / "kernel.cubin").write_bytes(bytes(1024))
    pace.release(100)
    done = Finished(on_spark("doctor"))
    asks = 100 - pace.unused()
    assert asks > 2 and "sglang-1 (40.0 KiB)" in done.out, done.out + done.err

    def asked() -> int:
        return pace.made().get("asked", 0)

    for way in dice.sample(["kill", "child", "ctrl+c"], 3):  # while it looks
        upto = asked() + dice.randrange(asks)
        pace.release(upto - asked())
        process = on_spark("doctor", *([] if way == "child" else ["--fix"]))
        assert comes(lambda upto=upto: asked() == upto and pace.waiting("--format=csv,noheader,nounits")), way
        ended(process, way, pace)
        assert len(list(old.iterdir())) == FILES
    for way in dice.sample(["kill", "ctrl+c"], 2):  # while it deletes
        left = dice.randrange(1, len(list(old.iterdir())))
        pace.release(asks + len(list(old.iterdir())) - left)
        process = on_spark("doctor", "--fix")
        assert comes(lambda left=left: len(list(old.iterdir())) == left), way
        ended(process, way, pace)
        assert list(old.iterdir())
    left = len(list(old.iterdir()))
    pace.release(2 * asks + left)
    done = Finished(on_spark("doctor", "--fix"))
    assert done.code in (0, 1) and f"old kernels: {left}.0 KiB of old kernels were deleted." in done.err, done.err
    assert [path.name for path in kernels.iterdir()] == [TAG] and (kernels / TAG / "kernel.cubin").exists()

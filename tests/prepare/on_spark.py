"""`spark-chat` as on a DGX Spark with SGLang, whose compilers are stand-ins: `python -m tests.prepare.on_spark`."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from functools import partial
from pathlib import Path

from spark_chat import machine
from spark_chat.cli.main import main
from spark_chat.engine import client
from spark_chat.machine import Gpu
from spark_chat.recipe import choose, kernel_cache
from tests.cli.process import spawn
from tests.fakes import MACHINE

SPARK = replace(MACHINE, gpu=Gpu("NVIDIA GB10", (12, 1)), spark=True, cores=4, memory_bytes=121 * 1024**3)
TAG = "sglang-2"
"""The versions that compile, as the name of the folder of what they compiled."""

STAND_IN = Path(__file__).parent / "flashinfer_stand_in"
DELETES_PACED = "SPARK_CHAT_TEST_DELETES_PACED"


def on_spark(*arguments: str) -> subprocess.Popen[bytes]:
    """Running, with pipes at all three ends."""
    return spawn(*arguments, module="tests.prepare.on_spark", path=[STAND_IN])


def pace_deletions() -> None:
    """Each file of a folder that is deleted waits for its turn."""
    unlink = os.unlink

    def paced(path: str, *, dir_fd: int | None = None) -> None:
        if dir_fd is not None:
            with open(os.environ["SPARK_CHAT_TEST_PACE"], "rb", buffering=0) as fifo:  # noqa: PTH123
                fifo.read(1)
        unlink(path, dir_fd=dir_fd)

    os.unlink = paced  # type: ignore[assignment]


if __name__ == "__main__":
    machine.machine = lambda: SPARK  # type: ignore[assignment]
    choose.installed = lambda package: True
    kernel_cache.tag = lambda: TAG
    client.EngineClient = partial(client.EngineClient, "tests.prepare.engine_worker")  # type: ignore[misc,assignment]
    if DELETES_PACED in os.environ:
        pace_deletions()
    main()

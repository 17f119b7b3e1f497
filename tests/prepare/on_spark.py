"""`spark-chat` as on a DGX Spark with SGLang, whose compilers are stand-ins: `python -m tests.prepare.on_spark`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from spark_chat import machine
from spark_chat.cli.main import main
from spark_chat.engine import client
from spark_chat.machine import Gpu
from spark_chat.recipe import choose, kernel_cache
from tests.fakes import MACHINE

SPARK = replace(MACHINE, gpu=Gpu("NVIDIA GB10", (12, 1)), spark=True, cores=4, memory_bytes=121 * 1024**3)
TAG = "sglang-2"
"""The versions that compile, as the name of the folder of what they compiled."""

if __name__ == "__main__":
    machine.machine = lambda: SPARK  # type: ignore[assignment]
    choose.installed = lambda package: True
    kernel_cache.tag = lambda: TAG
    client.EngineClient = partial(client.EngineClient, "tests.prepare.engine_worker")  # type: ignore[misc,assignment]
    main()

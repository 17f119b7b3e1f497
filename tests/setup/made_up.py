"""Machines that are not this one, and steps that do what a test says."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from spark_chat.driver.fitting import Facts, Suited
from spark_chat.driver.setup import Report, SetupProblem
from spark_chat.machine import Gpu, Machine
from spark_chat.recipe.memory_need import GIB
from spark_chat.recipe.recipe import ModelRef
from spark_chat.settings.schema import Settings
from tests.fakes import MACHINE

SPARK = replace(
    MACHINE, architecture="aarch64", gpu=Gpu("NVIDIA GB10", (12, 1)), spark=True, cores=20, memory_bytes=121 * GIB
)
RTX = replace(MACHINE, gpu=Gpu("NVIDIA GeForce RTX 4090", (8, 9)), cores=16, memory_bytes=64 * GIB)
H200 = replace(MACHINE, gpu=Gpu("NVIDIA H200", (9, 0)), cores=16, memory_bytes=128 * GIB)


def spark(**more: Any) -> Facts:
    return Facts(**{"machine": SPARK, "memory": 121 * GIB, "disk": 912 * 10**9,
                    "small": "SmolLM2-135M-Instruct", **more})  # fmt: skip


def plain() -> Facts:
    return Facts(MACHINE, MACHINE.memory_bytes, 50 * 10**9)


class Steps:
    """`fetch_goes`, `build_goes`: each waits for it. `fails`: a problem for the next fetch; `build_fails` likewise."""

    def __init__(self) -> None:
        self.fetch_goes, self.build_goes = asyncio.Event(), asyncio.Event()
        self.fetches = self.builds = self.cancelled = 0
        self.fails: SetupProblem | None = None
        self.build_fails: SetupProblem | None = None

    async def fetch(self, model: Suited, report: Report) -> ModelRef:
        self.fetches += 1
        report(0.47, "31.2 of 66.0 GB, 84.1 MB/s, 6 min 53 s left")
        await self._wait(self.fetch_goes)
        if self.fails is not None:
            raise self.fails
        return ModelRef(model.name, "/models/ling")

    async def build(self, model: ModelRef, settings: Settings, machine: Machine, report: Report) -> None:
        self.builds += 1
        report(0.25, "Capturing graphs (some minutes the first time)")
        await self._wait(self.build_goes)
        if self.build_fails is not None:
            raise self.build_fails

    async def _wait(self, goes: asyncio.Event) -> None:
        try:
            await goes.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise

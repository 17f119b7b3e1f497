"""Humming: MXFP4 expert kernels, compiled for the chip at hand by NVRTC."""

from __future__ import annotations

from typing import Any

from spark_chat.engine.protocol import Proof
from spark_chat.machine import Machine
from spark_chat.optimizations.judge import judged
from spark_chat.optimizations.optimization import Badge, Counters, Published
from spark_chat.optimizations.sources import RECIPE
from spark_chat.settings.schema import Settings


class Humming:
    """Sets the runner of the routed experts. Proven by each expert layer's quant method and runner class."""

    name = "humming"
    label = "Humming"
    costs = (
        "Kernels are compiled at the first start with a model, in seconds. Switching it loads the whole model again."
    )
    gains = "Reads 4-bit experts at the memory's speed while one person decodes."
    published: tuple[Published, ...] = (
        Published("about 9 % more decode tok/s than the FlashInfer MXFP4 experts", RECIPE),
        Published("37.8 -> 53.9 tok/s on GSM8K prompts, together with the FP8 head and MTP", RECIPE),
    )

    def unavailable(self, engine: str, machine: Machine) -> str | None:
        return None if engine == "sglang" and machine.gpu is not None else "needs SGLang on an NVIDIA GPU"

    def configure(self, engine: str, settings: Settings, machine: Machine) -> tuple[dict[str, Any], dict[str, str]]:
        if engine != "sglang":
            return {}, {}
        if settings.optimizations.humming:
            return {"moe_runner_backend": "humming"}, {}
        # Without Humming: FlashInfer's MXFP4 experts on a Spark and its kin; on other chips they take hundreds of
        # build steps where Marlin is one module.
        capability = machine.gpu.capability if machine.gpu else None
        blackwell_desktop = capability is not None and capability[0] == 12
        return {"moe_runner_backend": "flashinfer_mxfp4" if blackwell_desktop else "marlin"}, {}

    def judge(self, requested: bool, unavailable: str | None, proof: Proof | None) -> Badge:
        return judged(self.name, self.label, requested, unavailable, proof)

    def watch(self, badge: Badge, counters: Counters) -> Badge:
        return badge

"""FP8 head: the output layer's weights in 8 bits, quantised while the model loads."""

from __future__ import annotations

from typing import Any

from spark_chat.engine.protocol import Proof
from spark_chat.machine import Machine
from spark_chat.optimizations.judge import judged
from spark_chat.optimizations.optimization import Badge, Counters, Published
from spark_chat.optimizations.sources import RECIPE
from spark_chat.settings.schema import Settings

SWITCH = "SGLANG_ENABLE_FP8_LM_HEAD"
"""The plugin's switch, always set by us to 1 or 0: what the shell held must not decide."""


class Fp8Head:
    """Sets the plugin's switch. Proven by the head's dtype, its scales and its bytes in the scheduler."""

    name = "fp8_head"
    label = "FP8 head"
    costs = "Logits are rounded: near-ties may fall the other way. Switching it starts the engine again."
    gains = "Halves the bytes of the output layer, which every step reads whole."
    published: tuple[Published, ...] = (
        Published("about 11 % more decode tok/s; 25.35 -> 22.76 ms a token", RECIPE),
        Published("37.8 -> 53.9 tok/s on GSM8K prompts, together with Humming and MTP", RECIPE),
    )

    def unavailable(self, engine: str, machine: Machine) -> str | None:
        return None if engine == "sglang" and machine.gpu is not None else "needs SGLang on an NVIDIA GPU"

    def configure(self, engine: str, settings: Settings, machine: Machine) -> tuple[dict[str, Any], dict[str, str]]:
        if engine != "sglang":
            return {}, {}
        if settings.optimizations.fp8_head:
            return {"enable_fp32_lm_head": False}, {SWITCH: "1"}
        head = settings.optimizations.head
        wide = head == "fp32" or (head == "auto" and machine.spark)
        return {"enable_fp32_lm_head": wide}, {SWITCH: "0"}

    def judge(self, requested: bool, unavailable: str | None, proof: Proof | None) -> Badge:
        return judged(self.name, self.label, requested, unavailable, proof)

    def watch(self, badge: Badge, counters: Counters) -> Badge:
        return badge

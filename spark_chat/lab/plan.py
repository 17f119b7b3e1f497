"""What is to be measured: configurations, prompts, and how often and in which way each is asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from spark_chat.lab.figures import settings_json
from spark_chat.lab.item import Workload
from spark_chat.lab.results import Ordering
from spark_chat.lab.variation import Configuration
from spark_chat.settings.resolve import Resolved
from spark_chat.settings.schema import Settings

OrderWish = Literal["auto", "interleaved", "ordered"]
CHEAP_START_S = 5.0
"""Up to so many seconds from spawn to ready a restart is cheap enough to interleave the rounds."""
REPEATED = 16
"""Prompts of the first configuration that are asked again at the end, at most."""
SEED = 1


def origins(resolved: Resolved) -> dict[str, str]:
    """Where each setting came from, by dotted key: a layer and the name of its variable or flag; of a file no path."""
    return {
        key: origin.layer if origin.layer == "file" or not origin.detail else f"{origin.layer} ({origin.detail})"
        for key, origin in resolved.origins.items()
    }


@dataclass(frozen=True)
class Plan:
    """`sampled`: by the settings' own sampling instead of the workload's. `fresh`: a prefix that no cache has seen
    before each prompt. `max_tokens`, `ignore_eos`: in place of the workload's own. `origins`: where each setting came
    from (`origins`), for the record. `salt`: makes those prefixes differ from an earlier measurement's, where the
    engine may remember them; no measurement needs it whose engines are new."""

    configurations: tuple[Configuration, ...]
    workload: Workload
    rounds: int
    sampled: bool = False
    fresh: bool = False
    max_tokens: int | None = None
    ignore_eos: bool = False
    order: OrderWish = "auto"
    cumulative: bool = False
    salt: str = ""
    keys: tuple[str, ...] = ()
    """What is varied, in its order."""
    origins: Mapping[str, str] = field(default_factory=dict)

    @property
    def fixed_length(self) -> bool:
        return self.ignore_eos or self.workload.ignore_eos

    @property
    def answers(self) -> int:
        """How many there will be, without warm-ups and the repeat at the end."""
        return len(self.configurations) * len(self.workload.items) * self.rounds

    def ordering(self, start_s: float | None) -> Ordering | None:
        """How the configurations take turns, where the first start that came up took `start_s`; None where none did yet
        and it depends on it."""
        if len(self.configurations) == 1:
            return "single"
        if self.order != "auto":
            return self.order
        if start_s is None:
            return None
        return "interleaved" if start_s <= CHEAP_START_S else "ordered"

    def settings(self, configuration: int) -> Settings:
        """Those that answers are asked with: the workload's sampling stands over the settings'."""
        settings = self.configurations[configuration].settings
        over: dict[str, Any] = {} if self.sampled else dict(self.workload.sampling)
        if self.sampled and "max_tokens" in self.workload.sampling:
            over["max_tokens"] = self.workload.sampling["max_tokens"]
        if self.max_tokens is not None:
            over["max_tokens"] = self.max_tokens
        return replace(settings, sampling=replace(settings.sampling, **over))

    def seed(self, settings: Settings, item: int, round: int) -> int | None:
        """Of one answer: its own, and the same in every configuration. None where the likeliest token is taken."""
        if settings.sampling.temperature == 0:
            return None
        first = self.workload.seed if self.workload.seed is not None else settings.sampling.seed
        return ((SEED if first is None else first) + (round - 1) * len(self.workload.items) + item) % 2**31

    @property
    def sampling(self) -> dict[str, Any]:
        """As it stands in the record; the system prompt by its digest."""
        found = dict(vars(self.settings(0).sampling))
        prompt = found.pop("system_prompt")
        found["system_prompt_digest"] = hashlib.sha256(prompt.encode()).hexdigest()[:16] if prompt else None
        found["seed"] = self.seed(self.settings(0), 0, 1)
        return found

    @property
    def digest(self) -> str:
        """Of everything that decides what is measured: a run that was cut off goes on only with the same."""
        parts = [
            self.workload.digest, self.rounds, self.fresh, self.fixed_length, self.order, self.cumulative,
            [[item.name, {**settings_json(self.settings(place)), "engine.model": item.settings.engine.model}]
             for place, item in enumerate(self.configurations)],
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]

"""Prompts that wait for the engine, first in first out."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from spark_chat.engine.protocol import Generate, Opening, Sampling, Turn
from spark_chat.settings.schema import Settings


@dataclass(frozen=True)
class Prompt:
    """One prompt as it was asked: `messages` end with it. `submitted`: seconds of the monotonic clock. `opening`: what
    its answer already says."""

    id: str
    messages: tuple[Turn, ...]
    settings: Settings
    submitted: float
    ignore_eos: bool = False
    opening: Opening | None = None

    def command(self) -> Generate:
        """What the engine is told. The system prompt of the settings goes first where the turns hold none."""
        sampling = self.settings.sampling
        messages = list(self.messages)
        if sampling.system_prompt and not any(turn.role == "system" for turn in messages):
            messages.insert(0, Turn("system", sampling.system_prompt))
        return Generate(
            id=self.id,
            messages=messages,
            sampling=Sampling(
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                top_k=sampling.top_k,
                max_tokens=sampling.max_tokens,
                seed=sampling.seed,
                ignore_eos=self.ignore_eos,
            ),
            thinking=sampling.thinking,
            opening=self.opening,
        )

    def settings_used(self) -> dict[str, object]:
        """The settings that this answer depends on, by dotted key."""
        return {f"sampling.{name}": value for name, value in vars(self.settings.sampling).items()}


class PromptQueue:
    """The prompts that wait."""

    def __init__(self) -> None:
        self._waiting: deque[Prompt] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, id: str) -> bool:
        return any(prompt.id == id for prompt in self._waiting)

    def add(self, prompt: Prompt) -> None:
        """Put `prompt` last."""
        self._waiting.append(prompt)

    def next(self) -> Prompt | None:
        """Take the first; None where none waits."""
        return self._waiting.popleft() if self._waiting else None

    def remove(self, id: str) -> Prompt | None:
        """Take the one called `id` out; None where it does not wait."""
        for prompt in self._waiting:
            if prompt.id == id:
                self._waiting.remove(prompt)
                return prompt
        return None

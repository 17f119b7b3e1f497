"""How often the screen is drawn: at once for a key, seldom for an answer whose engine needs the same processor."""

from __future__ import annotations

from collections.abc import MutableMapping

FRAMES_A_SECOND = "120"
"""Textual draws what has changed at ticks of a clock, 60 a second where nobody says otherwise, and one that comes
while something else is drawn is left out: a key then waits up to two ticks. Ticks at which nothing has changed cost
nothing, so twice as many halve the wait (p95 at 300 tok/s: 37 to 27 ms) at the same load."""

SHARE = 0.1
"""Of a core, for drawing an answer: with a model on a GPU the processors are free, and text that flows reads best."""
SHARE_BESIDE_ENGINE = 0.04
"""Where the engine computes on the processors: each of its threads waits for the slowest in every layer, so what the
screen takes from one core, it takes from all."""


def draw_soon(environment: MutableMapping[str, str]) -> None:
    """To be called before Textual is imported: it reads the variable once. A person's own value stays."""
    environment.setdefault("TEXTUAL_FPS", FRAMES_A_SECOND)


def share(engine: str) -> float:
    """Of a core, for drawing what `engine` ("llama.cpp", "sglang") writes."""
    return SHARE_BESIDE_ENGINE if engine == "llama.cpp" else SHARE

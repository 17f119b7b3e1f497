"""How much memory must be there before a start, and why that much. Pure: figures in, figures out.

The written estimate (`memory_need`) decides; SGLang's own rule may ask for more: weights and caches must fit into its
share (mem_fraction_static) of what it finds available. On a Spark a model of Ling's size gets the published floor at
least, since a GB10 that runs out of memory wedges without a word.
"""

from __future__ import annotations

from dataclasses import dataclass

from spark_chat.meters.units import size
from spark_chat.recipe.memory_need import GIB, Need

SPARK_FLOOR = 85 * GIB
"""Published for Ling-3.0-flash on a DGX Spark: below it starts went wrong."""
LARGE = 48 * GIB
"""Weights from which on a model fills a Spark as Ling's do."""


LEAST_FRACTION = 0.05
"""A smaller share is refused by the engine itself."""


@dataclass(frozen=True)
class Floor:
    """Bytes that must be available, and a sentence on how they come about."""

    size: int
    why: str


def floor(need: Need | None, fraction: float, spark: bool, asked: int | None) -> Floor | None:
    """`fraction`: SGLang's mem_fraction_static, 0 where it chooses. `asked`: bytes that a person set
    (engine.memory_floor_gib); 0 is no floor. None where there is none, or nothing is known of the model."""
    if asked is not None:
        return Floor(asked, "engine.memory_floor_gib says so.") if asked else None
    if need is None:
        return None
    found = Floor(need.least, _parts(need))
    if LEAST_FRACTION <= fraction < 1:
        share = int(need.static / fraction) + need.outside
        if share > found.size:
            found = Floor(
                share,
                f"{_parts(need)} SGLang may use {fraction:.2f} of what is available for weights and caches "
                "(engine.args.mem_fraction_static), and they take " + f"{size(need.static)}.",
            )
    if spark and need.weights >= LARGE and found.size < SPARK_FLOOR:
        return Floor(SPARK_FLOOR, f"{_parts(need)} A DGX Spark wedges when it runs short, so it gets some to spare.")
    return found


def _parts(need: Need) -> str:
    shown = [f"{part.name} {size(part.size)}" for part in need.fixed if part.size >= GIB // 100]
    return f"By estimate: {', '.join(shown)}." if shown else ""

"""The optimizations there are, in the order of their badges. A fourth is one more file and one more row."""

from __future__ import annotations

from spark_chat.optimizations.fp8_head import Fp8Head
from spark_chat.optimizations.humming import Humming
from spark_chat.optimizations.mtp import Mtp
from spark_chat.optimizations.optimization import Optimization

OPTIMIZATIONS: tuple[Optimization, ...] = (Humming(), Fp8Head(), Mtp())


def optimization(name: str) -> Optimization:
    """The one called `name`. Raises KeyError."""
    for item in OPTIMIZATIONS:
        if item.name == name:
            return item
    raise KeyError(name)

"""How much must be available before a start."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spark_chat.recipe.memory_floor import SPARK_FLOOR, floor
from spark_chat.recipe.memory_need import GIB, Need, Part
from tests.recipe.test_memory_need import ling

sizes = st.integers(0, 200 * GIB)


def need(weights: int, cache: int = 0, processes: int = 0, load: int = 0, pool: int = 0) -> Need:
    named = {"weights": weights, "KV cache": cache, "processes": processes, "pool": pool}
    return Need(tuple(Part(name, size, "") for name, size in named.items()), Part("load", load, ""))


def test_ling_on_a_spark_gets_the_published_floor() -> None:
    found = floor(ling(fp8_head=True, mtp=True), 0.0, True, None)
    assert found is not None and found.size == SPARK_FLOOR == 85 * GIB
    assert "weights 60." in found.why and "DGX Spark" in found.why
    elsewhere = floor(ling(fp8_head=True, mtp=True), 0.0, False, None)
    assert elsewhere is not None and 70 * GIB < elsewhere.size < 75 * GIB


def test_sglangs_share_may_ask_for_more() -> None:
    """It takes 0.68 of what is available for weights and caches, and gives up where they don't fit."""
    wanted = ling(fp8_head=True, mtp=True)
    found = floor(wanted, 0.68, True, None)
    assert found is not None and found.size > SPARK_FLOOR
    assert (found.size - wanted.outside) * 0.68 >= wanted.static - 1
    assert "0.68" in found.why and "mem_fraction_static" in found.why
    roomier = floor(wanted, 0.9, True, None)
    assert roomier is not None and roomier.size == SPARK_FLOOR


def test_a_small_model_needs_little_also_on_a_spark() -> None:
    found = floor(need(16 * GIB, 2 * GIB, 3 * GIB, pool=60 * GIB), 0.68, True, None)
    assert found is not None and found.size < 30 * GIB


def test_a_person_has_the_last_word() -> None:
    asked = floor(ling(), 0.68, True, 70 * GIB)
    assert asked is not None and asked.size == 70 * GIB
    assert floor(ling(), 0.68, True, 0) is None and floor(None, 0.0, True, None) is None


@given(sizes, sizes, sizes, sizes, sizes, st.floats(0, 1), st.booleans())
def test_it_is_never_below_what_stays_and_grows_with_it(
    weights: int, cache: int, processes: int, load: int, pool: int, fraction: float, spark: bool
) -> None:
    less, more = need(weights, cache, processes, load, pool), need(weights, cache + GIB, processes, load)
    found, grown = floor(less, fraction, spark, None), floor(more, fraction, spark, None)
    assert found is not None and grown is not None
    assert found.size >= weights + cache + processes and found.size >= weights + processes + load
    assert grown.size >= found.size
    assert not spark or weights < 48 * GIB or found.size >= SPARK_FLOOR

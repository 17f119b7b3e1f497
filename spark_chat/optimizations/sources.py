"""Where the published figures come from: other people's measurements, none of them made by this program."""

from __future__ import annotations

RECIPE = "community recipe for Ling-3.0-flash-fp4 on one DGX Spark, batch 1 (published; not measured here)"
"""The fork, its patch and its benchmark tables that first ran the three together."""

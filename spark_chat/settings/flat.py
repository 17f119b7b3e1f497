"""Settings as a flat table, dotted key -> value, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spark_chat.settings.problem import BadValue
from spark_chat.settings.schema import Settings, rows, sections, value
from spark_chat.settings.values import checked


def flat(settings: Settings) -> dict[str, Any]:
    """All values by dotted key."""
    return {row.key: value(settings, row.key) for row in rows()}


def settings_of(values: Mapping[str, Any]) -> Settings:
    """Settings with `values` over the defaults. Unknown keys and values out of range are passed over."""
    good: dict[str, dict[str, Any]] = {name: {} for name, _ in sections()}
    for row in rows():
        if row.key in values:
            section, _, name = row.key.partition(".")
            try:
                good[section][name] = checked(row, values[row.key])
            except BadValue:
                continue
    defaults = Settings()
    return Settings(**{name: replace(getattr(defaults, name), **fields) for name, fields in good.items()})

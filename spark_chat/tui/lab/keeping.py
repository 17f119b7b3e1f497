"""Keeping a check's record, as `bench run` does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_chat.lab.plan import Plan
    from spark_chat.lab.report import Record
    from spark_chat.lab.results import AnyFound


def made(plan: Plan, found: Sequence[AnyFound], interrupted: bool, path: str) -> Record:
    """The record, with what the bandwidth allows for the model at `path`. Blocks for a second or so."""
    from spark_chat.lab import archive, limit
    from spark_chat.lab.record import record
    from spark_chat.machine import machine

    now, on = datetime.now(UTC), machine()
    whole = record(
        plan, found, id=archive.new_id(now), made=archive.stamp(now), machine=on, interrupted=interrupted,
        own_engines=False,
    )  # fmt: skip
    return {**whole, "limit": limit.of_record(whole, path, on) if path and not interrupted else None}


def kept(record: Record) -> bool:
    """Whether it could be written. Blocks on the disk."""
    from spark_chat.lab import archive
    from spark_chat.locations import NoHome
    from spark_chat.settings.problem import CannotSave

    try:
        archive.save(record)
    except (CannotSave, OSError, NoHome):
        return False
    return True

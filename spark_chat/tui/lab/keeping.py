"""Keeping a check's record, as `bench run` does."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spark_chat.lab.plan import Plan
    from spark_chat.lab.results import AnyFound


def kept(plan: Plan, found: Sequence[AnyFound], interrupted: bool) -> str:
    """The id of the record that was written; empty where none could be. Blocks on the disk."""
    from spark_chat.lab import archive
    from spark_chat.lab.record import record
    from spark_chat.locations import NoHome
    from spark_chat.machine import machine
    from spark_chat.settings.problem import CannotSave

    now = datetime.now(UTC)
    id = archive.new_id(now)
    whole = record(plan, found, id=id, made=archive.stamp(now), machine=machine(), interrupted=interrupted)
    try:
        archive.save(whole)
    except (CannotSave, OSError, NoHome):
        return ""
    return id

"""Whether a disk has room for what is to come, asked before the first byte."""

from __future__ import annotations

import shutil
from pathlib import Path

from spark_chat.pull.plan import BadPlan

SPARE = 500_000_000
"""Bytes that stay free: a disk filled to the brim stops more than the pull."""


def check_room(folder: Path, needed: int) -> None:
    """`needed`: bytes still to come into `folder`. Raises BadPlan."""
    there = free(folder)
    if needed > 0 and there < needed + SPARE:
        raise BadPlan(
            f"{needed / 1e9:,.1f} GB are still to come, and {there / 1e9:,.1f} GB are free in {existing(folder)}.",
            "Free some, or set HF_HOME (MODELSCOPE_CACHE for ModelScope) to a larger disk.",
        )


def free(folder: Path) -> int:
    """Bytes free on the disk that `folder` is on, or would be."""
    return shutil.disk_usage(existing(folder)).free


def existing(folder: Path) -> Path:
    """`folder`, or the nearest one above it that is there."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder

"""The workloads there are by name, and any file of one's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from spark_chat.lab import gsm8k, prompts
from spark_chat.lab.item import GREEDY, BadWorkload, Item, Workload

SHIPPED = ("chat", "code")
"""Sets of prompts that were written for this app and come with it."""
GSM8K = "gsm8k"
DEFAULT = SHIPPED
MAX_TOKENS = 40
"""Longest answer of the shipped prompts and of one's own, where nobody says otherwise."""
MANY = 12
"""From so many prompts on they are asked twice instead of three times: there and back, so that a machine that slows
down evenly slows all configurations alike, and the runs are enough for a median and its interval."""
_SYNTHETIC = re.compile(r"synthetic-(\d+)(k?)-(\d+)(k?)", re.IGNORECASE)
KNOWN = "chat, code, synthetic-32k-2k (or other lengths, such as synthetic-1k-128), gsm8k"


def workload(
    sources: Sequence[str] = (),
    data: str | None = None,
    questions: int | None = None,
    stdin: BinaryIO | None = None,
) -> Workload:
    """What `sources` name: workloads, or files of prompts. `data`, `questions`: of gsm8k. Raises BadWorkload."""
    names = [*(sources or DEFAULT)]
    if (data is not None or questions is not None) and GSM8K not in names:
        raise BadWorkload("--data and --questions belong to the workload gsm8k: spark-chat bench run gsm8k --data FILE")
    found = [_one(name, data, questions, stdin) for name in names]
    return found[0] if len(found) == 1 else _together(found)


def is_workload(name: str) -> bool:
    """Whether `name` is that of a workload, or of a file that is there."""
    if name in (*SHIPPED, GSM8K) or _SYNTHETIC.fullmatch(name):
        return True
    try:
        return Path(name).expanduser().is_file()
    except (OSError, ValueError, RuntimeError):
        return False


def _one(name: str, data: str | None, questions: int | None, stdin: BinaryIO | None) -> Workload:
    if name == GSM8K:
        if data is None:
            raise BadWorkload(f"gsm8k needs its questions. {gsm8k.WHERE}")
        return gsm8k.workload(data, questions)
    if name in SHIPPED:
        return plain(name, prompts.of_jsonl(_shipped(name), f"{name}.jsonl"))
    lengths = _SYNTHETIC.fullmatch(name)
    if lengths:
        tokens_in, tokens_out = (int(lengths[at]) * (1024 if lengths[at + 1] else 1) for at in (1, 3))
        return synthetic(tokens_in, tokens_out, name.lower())
    if name != "-" and not Path(name).suffix and not Path(name).expanduser().exists():
        raise BadWorkload(f"There is no workload {name[:60]!r}, nor a file of that name. Workloads: {KNOWN}.")
    return plain("stdin" if name == "-" else Path(name).stem, prompts.of_file(name, stdin))


def plain(name: str, items: Sequence[Item]) -> Workload:
    """Prompts to be answered greedily, up to MAX_TOKENS tokens each."""
    return Workload(name, tuple(items), {**GREEDY, "max_tokens": MAX_TOKENS}, rounds=_rounds(items))


def _rounds(items: Sequence[Item]) -> int:
    return 2 if len(items) >= MANY else 3


def synthetic(tokens_in: int, tokens_out: int, name: str) -> Workload:
    """`tokens_in` words of no meaning, never the same twice, and an answer of exactly `tokens_out`, greedy."""
    if tokens_in < 64 or tokens_out < 2:
        raise BadWorkload(f"{name} is too short: at least 64 tokens in and 2 out.")
    item = Item("synthetic", kind="synthetic", tokens=tokens_in)
    return Workload(
        name, (item,), {**GREEDY, "max_tokens": tokens_out, "thinking": False}, ignore_eos=True,
        note=f"{tokens_in:,} tokens in, {tokens_out:,} out, greedy",
    )  # fmt: skip


def _together(found: Sequence[Workload]) -> Workload:
    """Several plain ones as one; each prompt keeps its workload's name before its own."""
    first = found[0]
    for other in found[1:]:
        same = (first.sampling, first.seed, first.ignore_eos, first.extraction)
        if (other.sampling, other.seed, other.ignore_eos, other.extraction) != same:
            raise BadWorkload(f"{first.name} and {other.name} are answered differently: run them one at a time.")
    names = [item.name for item in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise BadWorkload(f"{twice} is named twice.")
    items = [replace(item, name=f"{part.name}/{item.name}") for part in found for item in part.items]
    return replace(first, name="+".join(names), items=tuple(items), rounds=_rounds(items))


def _shipped(name: str) -> str:
    from importlib.resources import files

    return (files("spark_chat.lab") / "workloads" / f"{name}.jsonl").read_text(encoding="utf-8")

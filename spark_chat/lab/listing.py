"""Several records at once: their list, and two side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spark_chat.lab.report import Record, span, table, times
from spark_chat.meters import units


def brief(record: Record) -> dict[str, Any]:
    """A record without its runs."""
    return {
        "id": record["id"],
        "made": record["made"],
        "model": _model(record),
        "machine": _machine(record),
        "workload": record["workload"]["name"],
        "interrupted": record["interrupted"],
        "configurations": [
            {"name": item["name"], "settings": item["settings"], "decode_tok_s": item["decode_tok_s"],
             "ratio_to_first": item["ratio_to_first"], "failure": item["failure"]}
            for item in record["configurations"]
        ],
    }  # fmt: skip


def _model(record: Record) -> str:
    return next((item["model"] for item in record["configurations"] if item["model"]), "-")


def _machine(record: Record) -> str:
    return str(record["machine"]["gpu"] or record["machine"]["cpu"])


def lines(records: Sequence[Record]) -> list[str]:
    """One line a record."""
    rows = []
    for record in records:
        best = max(
            (item for item in record["configurations"] if item["decode_tok_s"]),
            key=lambda item: item["decode_tok_s"]["median"], default=None,
        )  # fmt: skip
        fastest = f"{best['name']} {units.rate(best['decode_tok_s']['median'])}" if best else units.NONE
        whole = "stopped" if record["interrupted"] else ""
        rows.append((record["id"], _model(record), record["workload"]["name"],
                     str(len(record["configurations"])), fastest, whole))  # fmt: skip
    columns = ("record", "model", "workload", "configurations", "fastest, tok/s", "")
    return [line.rstrip() for line in table(columns, rows)] if rows else []


def diff_lines(first: Record, other: Record, found: Sequence[dict[str, Any]]) -> list[str]:
    """Two records side by side: machine and versions where they differ, then each configuration."""
    head = [f"first  {first['id']}  {_about(first)}", f"other  {other['id']}  {_about(other)}", ""]
    rows = []
    for item in found:
        before, after = item["first_decode_tok_s"], item["other_decode_tok_s"]
        test = item["mcnemar"]
        rows.append((
            item["first"] if item["first"] == item["other"] else f"{item['first']} / {item['other']}",
            units.rate(before["median"] if before else None), units.rate(after["median"] if after else None),
            times(item["ratio"]), span(item["ratio"], "{:.2f}"),
            f"+{test['gained']} -{test['lost']}, p {test['p']:.3f}" if test else "",
        ))  # fmt: skip
    columns = ("configuration", "first tok/s", "other tok/s", "ratio", "95 %", "McNemar" if any(
        row[-1] for row in rows) else "")  # fmt: skip
    return [line.rstrip() for line in (*head, *table(columns, rows))]


def _about(record: Record) -> str:
    item = next((item for item in record["configurations"] if item["version"]), record["configurations"][0])
    versions = record["versions"]
    engine = f"{item['engine'] or ''} {item['version'] or ''}".strip()
    return f"{_machine(record)} · {engine} · spark-chat {versions['spark-chat']} · {record['made']}"

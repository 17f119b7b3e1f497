"""A record for people: lines for a terminal, Markdown, CSV. What is not known reads "-"."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from spark_chat.lab import losses
from spark_chat.lab.figures import not_on
from spark_chat.meters import units
from spark_chat.settings.problem import printable

Record = dict[str, Any]
COLUMNS = (
    "configuration", "tok/s", "95 %", "ratio", "95 %", "accept", "TTFT", "prefill tok/s", "TPOT", "verify step",
    "break-even",
)  # fmt: skip
CSV_COLUMNS = (
    "record", "configuration", "item", "round", "role", "cold", "prompt_tokens", "cached_tokens", "completion_tokens",
    "reasoning_tokens", "ttft_s", "prefill_tok_s", "tpot_ms", "decode_tok_s", "latency_s", "accept_length",
    "verify_steps", "accepted_drafts", "proposed_drafts", "finish_reason", "seed", "given", "right", "failure",
)  # fmt: skip


def as_lines(record: Record, width: int = 110) -> list[str]:
    """The whole record in words and tables."""
    lines = [_head(record), _how(record), ""]
    lines += figures(record, width)
    lines += ["", *_failures(record), *_notes(record)]
    if record["cumulative"]:
        rows = [(rung["name"], _median(rung["decode_tok_s"], units.rate), times(rung["ratio_to_first"]),
                 span(rung["ratio_to_first"], "{:.2f}")) for rung in record["cumulative"]]  # fmt: skip
        lines += ["cumulative", *fitting(("", "tok/s", "ratio", "95 %"), rows, width), ""]
    lines += _accuracy(record, width)
    lines += losses.lines(record)
    if len(record["workload"]["prompts"]) > 1 and len(record["workload"]["prompts"]) <= 40:
        lines += prompt_table(record, width)
    return [line.rstrip() for line in _trimmed(lines)]


PUBLISHED = "break-even on a GB10: published as 2.26; its source's synthetic table implies 1.67 (not measured here)"


def figures(record: Record, width: int) -> list[str]:
    """The table of configurations."""
    return fitting(COLUMNS, [row(item) for item in record["configurations"]], width)


def fitting(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """`table`; where it is wider than `width`, as several of them, an empty line between two and the first column in
    each. A column "95 %" stays with the one before it."""
    together: list[list[int]] = []
    for at in range(1, len(columns)):
        if columns[at] == "95 %" and together:
            together[-1].append(at)
        else:
            together.append([at])
    parts: list[list[int]] = []
    for group in together:
        if parts and max(map(len, _columns(columns, rows, [*parts[-1], *group]))) <= width:
            parts[-1] += group
        else:
            parts.append(group)
    lines = [line for part in parts for line in ("", *_columns(columns, rows, part))]
    return lines[1:]


def _columns(columns: Sequence[str], rows: Sequence[Sequence[str]], wanted: Sequence[int]) -> list[str]:
    """The first column and the `wanted` ones."""
    head, *body = ([line[0], *(line[at] for at in wanted)] for line in (columns, *rows))
    return [line.rstrip() for line in table(head, body)]


def _trimmed(lines: list[str]) -> list[str]:
    while lines and not lines[-1]:
        lines.pop()
    return [line for place, line in enumerate(lines) if line or (place and lines[place - 1])]


def _head(record: Record) -> str:
    first = next((item for item in record["configurations"] if item["version"]), record["configurations"][0])
    machine = record["machine"]
    parts = [
        first["model"] or "no model", f"{first['engine'] or ''} {first['version'] or ''}".strip(),
        machine["gpu"] or machine["cpu"], record["workload"]["name"],
    ]  # fmt: skip
    return printable(" · ".join(part for part in parts if part))


def _how(record: Record) -> str:
    sampling, prompts = record["sampling"], len(record["workload"]["prompts"])
    drawn = "greedy" if sampling["temperature"] == 0 else (
        f"temperature {sampling['temperature']}, top_p {sampling['top_p']}, top_k {sampling['top_k']}"
    )  # fmt: skip
    length = f"exactly {sampling['max_tokens']:,} tokens" if record["fixed_length"] else (
        f"up to {sampling['max_tokens']:,} tokens"
    )  # fmt: skip
    parts = [
        f"{prompts} prompt{'s' if prompts > 1 else ''}, {record['rounds']} round{'s' if record['rounds'] > 1 else ''}",
        drawn, length, *([record["order"]] if len(record["configurations"]) > 1 and record["order"] else []),
        *(["fresh prefixes"] if record["fresh"] else []),
    ]  # fmt: skip
    return " · ".join(parts)


def row(item: dict[str, Any]) -> tuple[str, ...]:
    """A configuration's line of the table."""
    if not item["runs_counted"]:
        return (item["name"], "did not run" if item["failure"] else "not measured", *[""] * (len(COLUMNS) - 2))
    return (
        item["name"],
        _median(item["decode_tok_s"], units.rate),
        span(item["decode_tok_s"], "{:.1f}"),
        times(item["ratio_to_first"]),
        span(item["ratio_to_first"], "{:.2f}"),
        _median(item["accept_length"], units.accept),
        _median(item["ttft_s"], units.seconds),
        _median(item["prefill_tok_s"], units.rate),
        _median(item["tpot_ms"], units.milliseconds),
        units.milliseconds(item["verify_step_ms"]),
        units.accept(item["break_even_accept_length"]),
    )


def _median(found: dict[str, Any] | None, shown: Any) -> str:
    text: str = shown(found["median"] if found else None)
    return text


def times(found: dict[str, Any] | None) -> str:
    return units.NONE if found is None else f"{found['median']:.2f}x"


def span(found: dict[str, Any] | None, shown: str) -> str:
    """An interval: `120.1-131.0`."""
    if found is None or found["low"] is None:
        return units.NONE
    return f"{shown.format(found['low'])}-{shown.format(found['high'])}"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Aligned: the first column left, the others right."""
    cells = [[printable(cell) for cell in line] for line in (columns, *rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(columns))]
    return [
        "  ".join(cell.ljust(wide) if at == 0 else cell.rjust(wide)
                  for at, (cell, wide) in enumerate(zip(line, widths, strict=True)))
        for line in cells
    ]  # fmt: skip


def _failures(record: Record) -> list[str]:
    return [printable(f"✗ {item['name']}: {item['failure']}") for item in record["configurations"] if item["failure"]]


def _notes(record: Record) -> list[str]:
    lines = []
    for item in record["configurations"]:
        if item.get("not_compared"):
            lines.append(f"✗ {item['name']} is not compared: {item['not_compared']}")
        for name, badge in item["optimizations"].items():
            asked = item["settings"].get(f"optimizations.{name}")
            if asked is True and badge["state"] != "ACTIVE":
                lines.append(f"{item['name']}: {not_on(name, badge)}")
        if item["texts_differ"]:
            count = len(item["texts_differ"])
            lines.append(f"{item['name']}: the greedy text differs from the first configuration's on {count} prompts")
    drift = record["drift"]
    if drift is not None:
        since = "its repeat at the end" if record["order"] == "ordered" else "its last round"
        lines.append(f"drift: {times(drift)} ({span(drift, '{:.2f}')}) from the first configuration's start to {since}")
    for item in record["configurations"]:
        parts = [f"start {units.seconds(item['start_s'])}"] if item["start_s"] is not None else []
        if item["compile_s"] is not None:
            parts.append(f"of it up to {units.seconds(item['compile_s'])} compiling")
        if item["cache_bytes"]:
            parts.append(f"cache {units.size(item['cache_bytes'])}")
        if item["memory_bytes"]:
            parts.append(f"memory {units.size(item['memory_bytes'])}")
        if parts:
            lines.append(f"{item['name']}: {', '.join(parts)}")
        if (over := item.get("verify_over_plain_step")) is not None:
            lines.append(
                f"{item['name']}: a verify round takes {units.milliseconds(item['verify_step_ms'])}, "
                f"{over['median']:.2f} ({span(over, '{:.2f}')}) plain steps of "
                f"{units.milliseconds(item['plain_step_ms'])}; below that accept length drafting loses"
            )
    lines += _cached(record)
    lines += limit_lines(record)
    lines += record["notes"]
    if record["machine"]["spark"] and any(item["break_even_accept_length"] for item in record["configurations"]):
        lines.append(PUBLISHED)
    if record["interrupted"]:
        lines.append("interrupted: this is what was measured by then")
    return [*map(printable, lines), ""]


def _cached(record: Record) -> list[str]:
    """How much of the prompts came out of the prefix cache: TTFT and prefill are to be read with it."""
    runs = [run for item in record["configurations"] for run in item["runs"] if run["role"] == "measured"]
    whole = sum(run["prompt_tokens"] or 0 for run in runs)
    cached = sum(run["cached_tokens"] or 0 for run in runs)
    if not whole:
        return []
    fresh = "" if record["fresh"] or not cached else "; --fresh defeats it"
    return [f"prefix cache: {cached:,} of {whole:,} prompt tokens came out of it{fresh}"]


def limit_lines(record: Record) -> list[str]:
    """What the memory's bandwidth allows, and how much of it was reached."""
    limit = record["limit"]
    if not limit:
        return []
    lines = [
        f"limit: a token reads {limit['bytes_per_token'] / 1e9:.2f} GB, so {limit['bandwidth_gb_s']:.0f} GB/s "
        f"({limit['bandwidth_source']}) allow {units.rate(limit['tok_s'])} tok/s without drafts"
    ]
    for reached in limit["reached"]:
        said = f"{reached['configuration']}: {reached['share'] * 100:.0f} % of it in model steps"
        if reached["speculation"] is not None:
            said += f", and speculation gives {reached['speculation']:.2f} tokens a step"
        lines.append(said)
    return lines


def _accuracy(record: Record, width: int) -> list[str]:
    rows = []
    for item in record["configurations"]:
        found = item["accuracy"]
        if found:
            test = found["mcnemar"]
            means = item["means"]
            rows.append((
                item["name"], f"{found['right']}/{found['of']}", f"{found['share'] * 100:.1f} %",
                f"{found['low'] * 100:.1f}-{found['high'] * 100:.1f}",
                f"+{test['gained']} -{test['lost']}, p {test['p']:.3f}" if test else units.NONE,
                units.seconds(means["ttft_s"]), units.seconds(means["latency_s"]),
                f"{means['completion_tokens']:.0f}", _median(item["completion_tokens"], lambda value: f"{value:.0f}"),
            ))  # fmt: skip
    columns = ("accuracy", "right", "share", "95 %", "McNemar", "mean TTFT", "mean latency", "mean tokens", "median")
    return [*fitting(columns, rows, width), ""] if rows else []


def prompt_table(record: Record, width: int) -> list[str]:
    """tok/s of each prompt in each configuration, with the accept length where there is one."""
    items = [item for item in record["configurations"] if item["prompts"]]
    names = [prompt["name"] for prompt in record["workload"]["prompts"]]
    rows = []
    for name in names:
        cells = [name]
        for item in items:
            prompt = next((found for found in item["prompts"] if found["name"] == name), None)
            speed = _median(prompt["decode_tok_s"], units.rate) if prompt else units.NONE
            accept = (
                f" ({_median(prompt['accept_length'], units.accept)})" if prompt and prompt["accept_length"] else ""
            )
            cells.append(f"{losses.mark(prompt)}{speed}{accept}")
        rows.append(cells)
    return fitting(("tok/s (accept)", *(item["name"] for item in items)), rows, width) if rows and items else []


def as_markdown(record: Record) -> str:
    """Tables that a forge or a mail shows."""
    parts = [f"**{_escaped(_head(record))}**", "", _escaped(_how(record)), ""]
    parts += _markdown(COLUMNS, [row(item) for item in record["configurations"]])
    if record["cumulative"]:
        rows = [(rung["name"], _median(rung["decode_tok_s"], units.rate), times(rung["ratio_to_first"]),
                 span(rung["ratio_to_first"], "{:.2f}")) for rung in record["cumulative"]]  # fmt: skip
        parts += ["", *_markdown(("cumulative", "tok/s", "ratio", "95 %"), rows)]
    notes = [*_failures(record), *(line for line in (*_notes(record), *losses.lines(record)) if line)]
    parts += ["", *(f"- {_escaped(line)}" for line in notes)] if notes else []
    return "\n".join(parts) + "\n"


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(map(_escaped, line)) + " |" for line in (columns, *rows)]
    return [lines[0], "|---" + "|---:" * (len(columns) - 1) + "|", *lines[1:]]


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if char in "\\|*_<`[" else char for char in printable(text))


def as_csv(record: Record) -> str:
    """Every run, one a line."""
    out = io.StringIO()
    writer = csv.DictWriter(out, CSV_COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for item in record["configurations"]:
        for run in item["runs"]:
            writer.writerow({**run, "record": record["id"], "configuration": item["name"]})
    return out.getvalue()

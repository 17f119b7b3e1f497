"""A record as a chart: one bar a configuration for each prompt, or one in all where there are many prompts.

Drawn by pygal: pure Python, so that it installs everywhere and brings no numpy along; it writes SVG.
"""

from __future__ import annotations

from typing import Any

from spark_chat.lab.report import Record
from spark_chat.settings.problem import printable

MOST_PROMPTS = 24


def svg(record: Record) -> bytes:
    """Decode tok/s with its 95 % intervals. The file stands alone: it loads no script and no font."""
    import pygal  # type: ignore[import-untyped]
    from pygal.style import LightStyle  # type: ignore[import-untyped]

    configurations = [item for item in record["configurations"] if item["runs_counted"]]
    names = [prompt["name"] for prompt in record["workload"]["prompts"]]
    by_prompt = 1 < len(names) <= MOST_PROMPTS
    chart = pygal.Bar(
        js=[], pretty_print=False, title=_title(record), y_title="decode tok/s, 95 % intervals", style=LightStyle,
        legend_at_bottom=True, x_label_rotation=30 if by_prompt else 0, show_x_guides=False,
    )  # fmt: skip
    chart.x_labels = [printable(name) for name in (["all prompts", *names] if by_prompt else ["all prompts"])]
    for item in configurations:
        found = {prompt["name"]: prompt["decode_tok_s"] for prompt in item["prompts"]}
        values = [_bar(item["decode_tok_s"])]
        values += [_bar(found.get(name)) for name in names] if by_prompt else []
        chart.add(printable(item["name"]), values)
    rendered: bytes = chart.render()
    return rendered


def _title(record: Record) -> str:
    model = next((item["model"] for item in record["configurations"] if item["model"]), "")
    machine = record["machine"]
    return printable(f"{model} · {machine['gpu'] or machine['cpu']} · {record['workload']['name']}")


def _bar(found: dict[str, Any] | None) -> dict[str, Any] | None:
    if found is None:
        return None
    bar: dict[str, Any] = {"value": round(found["median"], 2)}
    if found["low"] is not None:
        bar["ci"] = {"low": round(found["low"], 2), "high": round(found["high"], 2)}
    return bar

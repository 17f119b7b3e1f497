"""From a visit's JSON to the committed record, and from the records to the README's table.

usage: python -m tests.gpu.record VISIT.json... [--suffix=-NAME] [--note SENTENCE]...
           writes tests/gpu/records/CHIP-DATE-NAME.json, its details and screens
       python -m tests.gpu.record --readme          writes the table in README.md anew
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

from tests.gpu.stage_toggles import ASKS, NAMES
from tests.gpu.table import TOGGLES

RECORDS = Path(__file__).parent / "records"
README = Path(__file__).parent.parent.parent / "README.md"
BEGIN, END = "<!-- gpu records: made by python -m tests.gpu.record --readme -->", "<!-- end of gpu records -->"
GREEDY = [place for place, ask in enumerate(ASKS) if ask["temperature"] == 0]
SPEED = ("name", "tpot_ms", "tok_s", "ttft_s", "accept_length", "step_ms", "speed_over_humming",
         "verify_over_plain_step", "app_over_raw", "raw", "first_over_later_ttft", "ready_s", "states")  # fmt: skip
PARTS = ("clamp", "check", "tui", "hand", "unshared", "draft_steps-auto", "block_verification", "head", "resolve",
         "reopen", "lab_oracle", "lab_full", "caches")  # fmt: skip
LAB = ("case", "tokens", "prompts", "order", "drift", "interrupted", "accept_constructed", "problems")
REOPEN = ("ready_s", "stages", "found_in_s", "whole_check_s", "proofs_came_along", "first_over_second", "stopped")
HOME = re.compile(r"(?<![\w.])/(?:work|tmp|root|home|opt|usr)/[^\s\"',)]*")


def of_visits(visits: list[dict[str, Any]]) -> dict[str, Any]:
    """The record: chip, versions, the eight settings, the stand-in."""
    parts: dict[str, Any] = {}
    for visit in visits:
        parts |= visit
    env = parts.get("env", {})
    speeds = [parts[name] for name in ("humming", "full") if "tpot_ms" in parts.get(name, {})]
    from tests.gpu.stage_speed import with_ratios

    stand_in = [{key: record[key] for key in SPEED if key in record} for record in with_ratios(speeds)]
    if "time" in parts.get("head", {}):
        stand_in.append({"name": "head kernel alone", **parts["head"]["time"], "right": parts["head"].get("right")})
    return {
        "chip": env.get("chip"),
        "date": parts.get("date"),
        "sglang": env.get("sglang"),
        "torch": env.get("torch"),
        "commit": parts.get("commit"),
        "oracle": [_setting(each) for each in _toggles(parts)],
        "stand_in": stand_in,
        "reopen": {name: parts["reopen"].get(name) for name in REOPEN} if "reopen" in parts else None,
        "lab": [_lab(parts[name]) for name in ("lab_oracle", "lab_full") if "rows" in parts.get(name, {})],
        "recipes": len(parts["resolve"]["recipes"]) if parts.get("resolve", {}).get("right") else None,
    }


def _toggles(parts: dict[str, Any]) -> list[dict[str, Any]]:
    found = [part for part in parts.values() if isinstance(part, dict) and all(name in part for name in TOGGLES)]
    return sorted(found, key=lambda part: [not part[name] for name in TOGGLES])


def _setting(found: dict[str, Any]) -> dict[str, Any]:
    """Lengths of the greedy answers, in the order of stage_toggles.ASKS; sampled ones have no constructed length."""
    return {
        **{name: found[name] for name in NAMES},
        "states": found["states"],
        "text_equal": found["text_equal"] and found["answers"][0] == found["answers"][1],
        "accept_length": _greedy(found, "accept_length"),
        "accept_constructed": _greedy(found, "accept_constructed"),
        "first_over_later_ttft": found.get("first_over_later_ttft"),
        "ready_s": found.get("ready_s"),
    }


def _greedy(found: dict[str, Any], key: str) -> list[float] | None:
    if not found["mtp"]:
        return None
    return [round(found[key][place], 4) for place in GREEDY if place < len(found[key]) and found[key][place]]


def _lab(found: dict[str, Any]) -> dict[str, Any]:
    """The cumulative table of one run of the bench. Its rungs are its rows: one setting is added after the other."""
    names = [rung["name"] for rung in found["cumulative"]]
    rows = [{"rung": name} | row for name, row in zip(names, found["rows"], strict=True)] if names else found["rows"]
    return _clean({name: found.get(name) for name in LAB} | {"rows": rows})  # type: ignore[no-any-return]


def details(visits: list[dict[str, Any]]) -> dict[str, Any]:
    """What the other parts found, and where the time of a start goes; without logs and paths."""
    parts: dict[str, Any] = {}
    for visit in visits:
        parts |= visit
    kept = {name: _clean(parts[name]) for name in PARTS if name in parts}
    for name in ("full", "humming", "thin"):
        if name in parts:
            kept[name] = _clean({key: parts[name].get(key) for key in ("stages", "startup_time", "profile", "raw")})
    return kept


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items() if key not in ("log_end", "stderr", "screen")}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return HOME.sub("…", value) if isinstance(value, str) else value


def slug(record: dict[str, Any]) -> str:
    chip = re.sub(r"[^a-z0-9]+", "-", str(record["chip"]).lower().removeprefix("nvidia ")).strip("-")
    return f"{chip}-{record['date']}"


def write(paths: list[Path], folder: Path, suffix: str = "", notes: list[str] | None = None) -> Path:
    visits = [json.loads(path.read_text()) for path in paths]
    record = of_visits(visits) | ({"notes": notes} if notes else {})
    name = slug(record) + suffix
    (folder / "details").mkdir(parents=True, exist_ok=True)
    _dump(folder / f"{name}.json", record)
    _dump(folder / "details" / f"{name}.json", details(visits))
    screens = paths[0].parent / "tui.screens.json"
    if screens.exists():
        shown = json.loads(screens.read_text())
        text = "\n\n".join(f"== {title}\n" + "\n".join(lines) for title, lines in shown.items())
        (folder / "details" / f"{name}.screens.txt").write_text(text + "\n")
    return folder / f"{name}.json"


def _dump(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def markdown(records: list[dict[str, Any]]) -> str:
    """Two tables a record."""
    return "\n\n".join(
        "\n\n".join(
            filter(
                None,
                [_title(record), _oracle(record), _stand_in(record), _labs(record), _reopen(record), _notes(record)],
            )
        )
        for record in records
    )


def _title(record: dict[str, Any]) -> str:
    return (
        f"**{record['chip']}**, {record['date']}, SGLang {record['sglang']}, torch {record['torch']}, "
        f"commit {record['commit']}."
    )


def _notes(record: dict[str, Any]) -> str:
    return "\n".join(f"- {note}" for note in record.get("notes", []))


def _reopen(record: dict[str, Any]) -> str:
    """The second check beside the first, and a first prompt beside a second one."""
    found = record.get("reopen")
    if not found:
        return ""
    ratios = ", ".join(f"{ratio:.2f} at {words} words" for words, ratio in found["first_over_second"].items())
    return (
        f"`spark-chat check` on an engine that another left: has it, proofs and all, within "
        f"{found['found_in_s'] * 1000:.0f} ms, {found['whole_check_s']:.1f} s at most with Python's start and its "
        "answer. "
        f"TTFT of the first prompt of a length after ready over the second's, on empty caches: {ratios}."
    )


def _oracle(record: dict[str, Any]) -> str:
    if not record["oracle"]:
        return ""
    rows = [
        "The checkpoint whose text is known:",
        "",
        "| Humming | FP8 head | MTP | badges | text | accept length (constructed) |",
        "|---|---|---|---|---|---|",
    ]
    for each in record["oracle"]:
        on = " | ".join("on" if each[name] else "off" for name in NAMES)
        states = ", ".join(str(each["states"].get(name)) for name in NAMES)
        text = "as known" if each["text_equal"] else "**not as known**"
        pairs = zip(each["accept_length"] or [], each["accept_constructed"] or [], strict=False)
        lengths = ", ".join(f"{seen:.2f} ({known:.2f})" for seen, known in dict.fromkeys(pairs)) or "–"
        rows.append(f"| {on} | {states} | {text} | {lengths} |")
    return "\n".join(rows)


def _stand_in(record: dict[str, Any]) -> str:
    speeds = [each for each in record["stand_in"] if "tpot_ms" in each]
    if not speeds:
        return ""
    rows = [
        "The stand-in of Ling's shape (65 GB, random weights), 1,024 tokens in, 256 out:",
        "",
        "| setting | ms a token | tok/s | accept length | over Humming alone | verify over plain step | app over raw "
        "| raw tok/s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for each in speeds:
        cells = [each["name"], _number(each, "tpot_ms", 3), _number(each, "tok_s", 1),
                 _number(each, "accept_length", 2),
                 _number(each, "speed_over_humming", 2), _number(each, "verify_over_plain_step", 2),
                 _number(each, "app_over_raw", 3), _number(each.get("raw") or {}, "tok_s", 1)]  # fmt: skip
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


LAB_COLUMNS = ("{case}", "badges", "tok/s (95 %)", "over baseline (95 %)", "accept length", "verify round",
               "plain steps a verify round", "start", "cache")  # fmt: skip


def _labs(record: dict[str, Any]) -> str:
    return "\n\n".join(_lab_table(found) for found in record.get("lab") or [])


def _lab_table(found: dict[str, Any]) -> str:
    known = found.get("accept_constructed")
    rows = [
        f"`spark-chat bench run --cumulative --vary humming=off,on --vary fp8_head=off,on --vary mtp=off,on code "
        f"--rounds 1`, {found['prompts']} prompts, {found['tokens']} tokens each, on the {found['case']}"
        + (
            f" (accept length constructed: {known:.2f})"
            if known
            else " (accept length set, since its weights are random)"
        )
        + (f"; first configuration again at the end: {_span(found['drift'], 2)}" if found["drift"] else "")
        + ":",
        "",
        "| " + " | ".join(LAB_COLUMNS).format(case=found["case"]) + " |",
        "|---" * len(LAB_COLUMNS) + "|",
    ]
    for row in found["rows"]:
        name = row.get("rung") or row["name"]
        if not row["runs_counted"]:
            rows.append(f"| {name} | did not run: {row['failure'] or 'no time was left'} |" + " |" * 7)
            continue
        cells = [name, ", ".join(str(row["states"].get(toggle)) for toggle in NAMES), _span(row["decode_tok_s"], 1),
                 _span(row["ratio_to_first"], 2), _number(row["accept_length"] or {}, "median", 2),
                 _unit(row["verify_step_ms"], "{:.2f} ms"), _span(row["verify_over_plain_step"], 2),
                 _unit(row["start_s"], "{:.0f} s"), _unit(row["cache_bytes"], "{:,} bytes")]  # fmt: skip
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows + [""] * bool(found["problems"]) + [f"- {problem}" for problem in found["problems"] or []])


def _span(found: dict[str, Any] | None, digits: int) -> str:
    """`1.52 (1.50-1.55)`."""
    if not found:
        return "–"
    spread = "" if found["low"] is None else f" ({found['low']:.{digits}f}-{found['high']:.{digits}f})"
    return f"{found['median']:.{digits}f}{spread}"


def _unit(value: float | None, shown: str) -> str:
    return "–" if value is None else shown.format(value)


def _number(record: dict[str, Any], key: str, digits: int) -> str:
    value = record.get(key)
    return "–" if value is None else f"{value:.{digits}f}"


def readme(text: str, folder: Path) -> str:
    """`text` with what lies between the marks made anew."""
    records = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"), reverse=True)]
    before, found, rest = text.partition(BEGIN)
    _, closed, after = rest.partition(END)
    if not found or not closed:
        raise ValueError(f"README.md has no place for it: {BEGIN} ... {END}")
    made = markdown(records) if records else "No record is here yet."
    return f"{before}{BEGIN}\n{made}\n{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("visits", nargs="*", type=Path)
    parser.add_argument("--suffix", default="", help="of the record's name: a second visit of a day")
    parser.add_argument("--note", action="append", default=[], help="a sentence to go with it")
    parser.add_argument("--to", type=Path, default=RECORDS)
    parser.add_argument("--readme", action="store_true")
    given = parser.parse_args()
    if given.visits:
        print(write(given.visits, given.to, given.suffix, given.note).name)
    if given.readme:
        README.write_text(readme(README.read_text(), given.to))


if __name__ == "__main__":
    main()

"""What a visit found, as lines for a terminal."""

from __future__ import annotations

import json
from typing import Any

TOGGLES = ("humming", "fp8_head", "mtp")


def of_visit(records: dict[str, Any]) -> str:
    lines = ["", f"{'part':28} {'':4} {'took':>7}"]
    for name, record in records.items():
        said = "ok" if record.get("ok") else "FAIL"
        lines.append(f"{name:28} {said:4} {record.get('took_s', 0):6.1f}s  {str(record.get('error') or '')[:110]}")
    lines += [line for record in records.values() if all(key in record for key in TOGGLES) for line in _toggle(record)]
    for record in records.values():
        if "tpot_ms" in record:
            lines.append("  " + json.dumps({key: value for key, value in record.items()
                                            if key not in ("log_end", "stages", "profile", "reasons")}))  # fmt: skip
        if "rows" in record:
            lines += _lab(record)
        if record.get("profile"):
            lines += _profile(record["name"], record["profile"])
    for name in ("clamp", "unshared", "check", "tui", "hand", "draft_steps-auto", "block_verification", "head"):
        if name in records:
            lines.append(f"  {name}: {json.dumps(records[name], default=str, ensure_ascii=False)[:1200]}")
    return "\n".join(lines)


def _toggle(record: dict[str, Any]) -> list[str]:
    marks = " ".join(f"{name}={'on ' if record[name] else 'off'}" for name in TOGGLES)
    states = "/".join(str(record["states"][name]) for name in TOGGLES)
    lines = [
        f"  {marks} {states:24} text {record['text_equal']!s:5} counts {record['counts_equal']!s:5} "
        f"accept {record['accept_length'][:4]} answers {record['answers']} ready {record['ready_s']} s "
        f"first/later TTFT { {name: round(ratio, 2) for name, ratio in record['first_over_later_ttft'].items()} }"
    ]
    if not record["ok"]:
        lines.append(f"    {record['differences'][:3]} {record['reasons']}")
        lines += [f"    {line[:200]}" for line in record["log_end"][-8:]]
    return lines


def _lab(record: dict[str, Any]) -> list[str]:
    """The cumulative table."""
    lines = [f"  lab on the {record['case']}, drift {record['drift']}"]
    for row in record["rows"]:
        speed, ratio, accept = row["decode_tok_s"] or {}, row["ratio_to_first"] or {}, row["accept_length"] or {}
        lines.append(
            f"    {row['name']:40} {speed.get('median')} tok/s, {ratio.get('median')} x, "
            f"accept {accept.get('median')}, start {row['start_s']} s {row['failure'] or ''}"
        )
    return lines


def _profile(name: str, profile: Any) -> list[str]:
    if not isinstance(profile, dict):
        return [f"  profile of {name}: {profile}"]
    lines = [f"  profile of {name}: {profile['steps']} steps, {profile['span_us']} us, busy {profile['busy_us']} us"]
    return lines + [f"    {us:10.1f} us {calls:6} x {kernel}" for kernel, calls, us in profile["kernels"][:16]]

"""One visit to a machine with an NVIDIA GPU: everything that only a GPU can show, in stages that fail alone.

usage: python -m tests.gpu.visit STAGE... [--out FOLDER] [--seconds N] [--together N] [--model FOLDER]
                                          [--sweep N] [--only TEXT] [--configs a,b]
Stages, in the order of their worth: env clamp toggles head unshared check tui hand speed raw; "first" is env, clamp
and toggles; "second" is head, unshared, check, tui and hand; "third" is speed and raw. Records go to FOLDER as JSON
(default: $OUT, else tests/gpu/records), each as soon as its stage ends; a table is printed. Exit code 1 where a stage
failed. `--seconds` is what the whole visit may take: a stage that has no time left says so.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

GROUPS = {
    "first": ("env", "clamp", "toggles"),
    "second": ("head", "unshared", "check", "tui", "hand"),
    "third": ("speed", "raw"),
}
ORDER = ("env", "clamp", "toggles", "head", "unshared", "check", "tui", "hand", "speed", "raw")
START_S = 330
"""Limit of one engine start with its answers, seconds: on empty caches kernels compile for minutes."""


class Visit:
    """The stages. Each returns a record with `ok`, or anything."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given, self.began = given, time.monotonic()
        self.out: Path = given.out
        self.work = Path("/tmp/visit")
        self.model: Path = given.model
        self.records: dict[str, Any] = {}

    @property
    def deadline(self) -> float:
        return self.began + float(self.given.seconds)

    @property
    def left(self) -> float:
        return self.deadline - time.monotonic()

    def env(self) -> dict[str, Any]:
        import torch

        found = {"python": sys.version.split()[0], "torch": torch.__version__, "cuda": torch.version.cuda}
        found["gpu"] = torch.cuda.get_device_name() if torch.cuda.is_available() else None
        found["capability"] = list(torch.cuda.get_device_capability()) if found["gpu"] else None
        for name in ("sglang", "sglang-kernel", "humming-kernels", "triton", "transformers", "textual", "spark-chat"):
            try:
                found[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                found[name] = None
        from spark_chat.machine import machine
        from spark_chat.sglang_plugin import discovery

        found["entry_point"] = discovery.found()
        found["machine"] = str(machine())
        found["ok"] = bool(found["gpu"]) and bool(found["sglang"])
        return found

    def oracle(self) -> None:
        if not (self.model / "oracle.json").exists():
            subprocess.run([sys.executable, "-m", "tests.gpu.oracle_weights", str(self.model)], check=True)

    def clamp(self) -> dict[str, Any]:
        return self._alone("from tests.gpu.stage_clamp import run", "run()", 120)

    def head(self) -> dict[str, Any]:
        found = self._alone("from tests.gpu.stage_head import run", f"run({self.given.sweep})", 150 + self.given.sweep)
        shares = (found.get("right") or {}).get("top1_share") or {}
        rows = (found.get("time") or {}).get("rows") or {}
        found["fast"] = bool(rows) and all(rows[key]["rate_of_read_only"] >= 0.95 for key in ("1", "4"))
        found["ok"] = bool(shares) and all(share >= 0.999 for share in shares.values())
        return found

    def _alone(self, importing: str, call: str, limit_s: float) -> dict[str, Any]:
        """In a process of its own: a GPU fault there must not end the visit."""
        result = self.work / "alone.json"
        self.work.mkdir(parents=True, exist_ok=True)
        result.unlink(missing_ok=True)
        code = f"{importing}\nimport json\nfrom pathlib import Path\nfound = {call}\n"
        code += f"Path({str(result)!r}).write_text(json.dumps(found))"
        limit_s = max(10.0, min(limit_s, self.left))
        try:
            subprocess.run([sys.executable, "-c", code], timeout=limit_s, check=False)
        except subprocess.TimeoutExpired:
            return {"ok": False, "error": f"not done within {limit_s:.0f} s"}
        if not result.exists():
            return {"ok": False, "error": "it ended without a result; its output is above"}
        found: dict[str, Any] = json.loads(result.read_text())
        return {"ok": bool(found.get("right", True))} | found

    def toggles(self) -> dict[str, Any]:
        from tests.gpu import stage_toggles

        self.oracle()
        found = stage_toggles.run(
            self.model, self.work, self.given.together, START_S, self.deadline - 15, self.given.only
        )
        return {"ok": all(record["ok"] for record in found), "oracle": found}

    def unshared(self) -> dict[str, Any]:
        from tests.gpu import stage_toggles

        self.oracle()
        return stage_toggles.run_unshared(self.model, self.work, min(150, self.left))

    def check(self) -> dict[str, Any]:
        from tests.gpu import stage_app

        self.oracle()
        return stage_app.check(self.model, self._made(), min(START_S, self.left))

    def tui(self) -> dict[str, Any]:
        from tests.gpu import stage_app

        self.oracle()
        return stage_app.tui(self.model, self._made(), min(START_S, self.left))

    def hand(self) -> dict[str, Any]:
        from tests.gpu import stage_app

        self.oracle()
        return stage_app.by_hand(self.model, self._made(), min(200, self.left))

    def speed(self, raw: bool = False) -> dict[str, Any]:
        from tests.gpu import stage_speed

        names = [] if raw and self.records.get("speed") else self.given.configs.split(",")
        found = stage_speed.run(self.work, names, START_S, self.deadline - 10, raw)
        if raw and "speed" in self.records:
            found = stage_speed.with_ratios(self.records["speed"]["stand_in"] + found)
        return {"ok": all(record.get("tpot_ms") for record in found), "stand_in": found}

    def raw(self) -> dict[str, Any]:
        return self.speed(raw=True)

    def _made(self) -> Path:
        self.work.mkdir(parents=True, exist_ok=True)
        return self.work

    def run(self, stages: list[str]) -> bool:
        for stage in stages:
            began = time.monotonic()
            call: Callable[[], dict[str, Any]] = getattr(self, stage)
            print(f"== {stage} ({self.left:.0f} s left)", flush=True)
            try:
                record = call() if self.left > 20 else {"ok": False, "error": "no time left"}
            except Exception as error:
                traceback.print_exc()
                record = {"ok": False, "error": f"{type(error).__name__}: {error}"}
            record["took_s"] = round(time.monotonic() - began, 1)
            self.records[stage] = record
            self.save()
        self.table()
        return all(self.records[stage].get("ok") for stage in stages)

    def save(self) -> None:
        """One file with all stages so far, and the longer texts of the app beside it."""
        self.out.mkdir(parents=True, exist_ok=True)
        head = {"date": time.strftime("%Y-%m-%d"), "commit": commit()}
        (self.out / f"visit-{self.given.name}.json").write_text(
            json.dumps(head | self.records, indent=1, default=str, ensure_ascii=False)
        )
        for name in ("tui.screens.json", "check.stdout.json"):
            if (self.work / name).exists():
                (self.out / name).write_bytes((self.work / name).read_bytes())

    def table(self) -> None:
        print("\n== summary")
        for stage, record in self.records.items():
            print(f"{stage:9} {'ok  ' if record.get('ok') else 'FAIL'} {record['took_s']:7.1f} s  "
                  f"{record.get('error') or ''}")  # fmt: skip
        for row in self.records.get("toggles", {}).get("oracle", []):
            marks = " ".join(f"{name}={'on ' if row[name] else 'off'}" for name in ("humming", "fp8_head", "mtp"))
            print(f"  {marks}  {row['states']}  text {row['text_equal']}  counts {row['counts_equal']}  "
                  f"accept {row['accept_length']}  {row['error'] or row['differences'] or ''}")  # fmt: skip
            if not row["ok"]:
                print("    reasons:", row["reasons"])
                print("    " + "\n    ".join(row["log_end"][-12:]))
        for stage in ("speed", "raw"):
            for row in self.records.get(stage, {}).get("stand_in", []):
                print("  ", {key: value for key, value in row.items() if key not in ("log_end", "stages")})
        for stage in ("head", "clamp", "unshared", "check", "tui", "hand"):
            if stage in self.records:
                text = json.dumps(self.records[stage], default=str, ensure_ascii=False)
                print(f"  {stage}: {text[:1800]}")


def commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout.strip()
    packed = Path(".gpu/last/commit")  # a copy of the working tree may come without its history
    return packed.read_text().strip() if packed.exists() else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stages", nargs="+", choices=[*ORDER, *GROUPS])
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT") or "tests/gpu/records"))
    parser.add_argument("--name", default="")
    parser.add_argument("--seconds", type=float, default=570)
    parser.add_argument("--together", type=int, default=6, help="engine starts at a time in toggles")
    parser.add_argument("--model", type=Path, default=Path("/tmp/oracle"), help="the oracle; written where missing")
    parser.add_argument("--sweep", type=int, default=0, help="seconds for trying configurations of the head's kernel")
    parser.add_argument("--only", default="", help="toggles whose name has this in it")
    parser.add_argument("--configs", default="full,humming,humming+fp8", help="of the speed stage")
    given = parser.parse_args()
    wanted = {stage for name in given.stages for stage in GROUPS.get(name, (name,))}
    given.name = given.name or "-".join(given.stages)
    stages = [stage for stage in ORDER if stage in wanted]
    sys.exit(0 if Visit(given).run(stages) else 1)


if __name__ == "__main__":
    main()

"""One visit to a machine with an NVIDIA GPU: everything that only a GPU can show, held to a time limit.

usage: python -m tests.gpu.visit first|second|recipes|lab|PART... [--out FOLDER] [--seconds N] [--name NAME]
"first" runs what needs no quiet all at once (the eight toggles, clamp, check, tui, a server started by hand, the head
unshared, options), while the stand-in with everything on compiles and loads behind its gate; then it ends what still
runs and times that alone. "second" times the stand-in with Humming alone, then the head. "recipes" puts every recipe
through SGLang's own resolution and checks. "third" asks a thin stand-in on empty caches, each question from a process
of its own, then times the whole one. "lab" has `spark-chat bench run --cumulative` make its table, on the oracle, then
on the stand-in alone; it counts on full caches ("first" on the same machine). "cold" fills them beside the oracle's
table; lab_full then makes the other. On slow processors (a start of 100 s instead of 60) lab_oracle and lab_full go
better into two calls. A part's name runs that part.
Records go to FOLDER as JSON (default: $OUT, else tests/gpu/records), after every part; a table is printed. Exit code 1
where something was not as it should be.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spark_chat.recipe import kernel_cache
from tests.gpu import (
    jobs,
    machine_facts,
    prebuild,
    stage_app,
    stage_lab,
    stage_reopen,
    stage_speed,
    stage_toggles,
    stand_in,
    table,
)
from tests.gpu.oracle_text import Oracle

FOLLOWERS_S = 45
"""After the leaders: engines that start later find compiled what the leaders have compiled by then."""
TIMED_S = 75
"""Kept at the end of "first" for what is timed alone."""
LAB_S = 330
"""Kept for the stand-in's table: five starts."""
LEADERS = ("humming-fp8_head-mtp", "no_humming-fp8_head-mtp", "humming-fp8_head-no_mtp")
GROUPS = {
    "first": ("env", "prebuild", "toggles", "full", "thin", "clamp", "check", "tui", "hand", "unshared", "options"),
    "second": ("humming", "head"),
    "recipes": ("resolve",),
    "third": ("reopen", "full"),
    "lab": ("env", "lab_oracle", "lab_full"),
    "cold": ("env", "prebuild", "thin", "thin_full", "lab_oracle"),
}
PARTS = tuple(dict.fromkeys(part for group in GROUPS.values() for part in group))

Call = Callable[[float], dict[str, Any]]
"""Takes its limit in seconds, gives its record."""


class Visit:
    """`records`: part -> what it found, "ok" among it."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given, self.began = given, time.monotonic()
        self.out: Path = given.out
        self.work, self.model, self.stand_in = given.work, given.work / "oracle", given.work / "stand_in"
        self.gate: Path = given.work / "gate"
        self.records: dict[str, Any] = {}
        self.ended = 0
        self.turn = threading.Condition()
        """Of one part after another to write its record; told when a part has ended."""

    @property
    def left(self) -> float:
        return float(self.given.seconds) - (time.monotonic() - self.began)

    # ------------------------------------------------------------ parts

    def toggle(self, job: dict[str, Any]) -> Call:
        oracle = Oracle.load(self.model)
        return lambda limit: stage_toggles.judge(job, jobs.run(job, self.work, limit), oracle)

    def option(self, job: dict[str, Any]) -> Call:
        oracle = Oracle.load(self.model)
        return lambda limit: stage_toggles.judge_text(job, jobs.run(job, self.work, limit), oracle)

    def speed(self, name: str, port: int, gate: Path | None = None) -> Call:
        job = stage_speed.job(name, self.stand_in, port, gate)
        return lambda limit: self._timed(stage_speed.summary(name, jobs.run(job, self.work, limit)))

    def lab(self, case: stage_lab.Case) -> Call:
        return lambda limit: stage_lab.run(case, self.work, self.out, limit)

    @staticmethod
    def _timed(record: dict[str, Any]) -> dict[str, Any]:
        return record | {"ok": bool(record.get("tpot_ms"))}

    def thin(self, limit: float, name: str = "humming", port: int = 32_100) -> dict[str, Any]:
        job = stage_speed.job(name, self.work / "thin", port, thin=True)
        found = stage_speed.summary("thin", jobs.run(job, self.work, limit))
        return found | {"ok": not found["error"]}

    def alone(self, name: str, importing: str, call: str) -> Call:
        """In a process of its own: a GPU fault there must not end the visit."""

        def run(limit: float) -> dict[str, Any]:
            result, log = self.work / f"{name}.json", self.work / f"{name}.log"
            code = f"{importing}\nimport json\nfrom pathlib import Path\nfound = {call}\n"
            code += f"Path({str(result)!r}).write_text(json.dumps(found))"
            jobs.held(name, [sys.executable, "-c", code], log, dict(os.environ), limit)
            if not result.exists():
                return {"ok": False, "error": "it ended without a result", "log_end": jobs.tail(log, 15)}
            found: dict[str, Any] = json.loads(result.read_text())
            return {"ok": bool(found.get("right", True))} | found

        return run

    def build(self, limit: float) -> dict[str, Any]:
        log, began = self.work / "prebuild.log", time.monotonic()
        variables = {**os.environ, **kernel_cache.environment()}
        code = jobs.held("prebuild", [sys.executable, "-m", "tests.gpu.prebuild"], log, variables, limit)
        return {"ok": code == 0, "seconds": round(time.monotonic() - began, 1), "log_end": jobs.tail(log, 5)}

    # ------------------------------------------------------------ order

    def together(self, parts: set[str]) -> list[tuple[str, Call, float, int]]:
        """(name, call, seconds to wait, ended ones to wait for) of what may overlap."""
        found: list[tuple[str, Call, float, int]] = []
        if "prebuild" in parts:
            found.append(("prebuild", self.build, 0, 0))
        if "full" in parts:
            found.append(("full", self.speed("full", 32_000, self.gate), 0, 0))
        if "toggles" in parts:
            for job in stage_toggles.make(self.model):
                wait = 0 if job["name"] in LEADERS or self.given.leaders else FOLLOWERS_S
                if self.given.only in job["name"]:
                    found.append((job["name"], self.toggle(job), wait, 0))
        if "thin" in parts:
            found.append(("thin", self.thin, FOLLOWERS_S, 0))
        if "thin_full" in parts:
            found.append(("thin_full", lambda limit: self.thin(limit, "full", 32_110), 0, 0))
        if "lab_oracle" in parts:
            found.append(("lab_oracle", self.lab(stage_lab.oracle(self.model)), 0, 0))
        if "clamp" in parts:
            found.append(("clamp", self.alone("clamp", "from tests.gpu.stage_clamp import run", "run()"), 20, 0))
        late = {
            "check": lambda limit: stage_app.check(self.model, self.work, limit),
            "tui": lambda limit: stage_app.tui(self.model, self.work, limit),
            "hand": lambda limit: stage_app.by_hand(self.model, self.work, limit),
            "unshared": lambda limit: stage_toggles.judge_unshared(
                jobs.run(stage_toggles.unshared(self.model), self.work, limit)
            ),
            "draft_steps-auto": self.option(stage_toggles.automatic(self.model)) if "options" in parts else None,
            "block_verification": self.option(stage_toggles.rejecting(self.model)) if "options" in parts else None,
        }
        before = len(found)
        for place, (name, call) in enumerate(late.items()):
            if call is not None and (name in parts or name in ("draft_steps-auto", "block_verification")):
                # check and tui once some have ended, the rest as more end: a machine has only so many cores
                found.append((name, call, 0, min(before, 4 + place) if before > 2 else 0))
        return found

    def overlap(self, parts: set[str], kept_s: float = 0) -> None:
        """Run them; end those that have not ended when it is time for what is timed alone. `kept_s`: for what comes
        after."""
        reserve = kept_s + (TIMED_S if "full" in parts else 10)
        threads = [threading.Thread(target=self._when, args=(*each, reserve), name=each[0], daemon=True)
                   for each in self.together(parts)]  # fmt: skip
        for thread in threads:
            thread.start()
        others = [thread for thread in threads if thread.name != "full"]
        for thread in others:
            thread.join(max(0.0, self.left - reserve))
        if "full" in parts:
            jobs.end_others("speed-full")
            for thread in others:
                thread.join(15)
            self.gate.touch()
            print(f"== timed alone ({self.left:.0f} s left)", flush=True)
        for thread in threads:
            thread.join(max(1.0, self.left - kept_s - 5))

    def _when(self, name: str, call: Call, wait_s: float, after: int, reserve: float) -> None:
        if not self._turn_comes(wait_s, after, reserve + 60):
            self.keep(name, {"ok": False, "error": "no time left to run it"})
            return
        self.part(name, call, (self.left - 8) if name == "full" else max(5.0, self.left - reserve))

    def _turn_comes(self, wait_s: float, after: int, kept_s: float) -> bool:
        """Wait until `wait_s` seconds have passed and `after` parts have ended; False where less than `kept_s` would be
        left then."""
        with self.turn:
            while (early := wait_s - (time.monotonic() - self.began)) > 0 or self.ended < after:
                spare = self.left - kept_s
                if spare < 0:
                    return False
                self.turn.wait(min(early, spare) if early > 0 else spare)
        return True

    def part(self, name: str, call: Call, limit: float) -> None:
        began = time.monotonic()
        print(f"== {name} starts ({self.left:.0f} s left)", flush=True)
        try:
            record = call(limit)
        except Exception as error:
            traceback.print_exc()
            record = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        self.keep(name, record | {"took_s": round(time.monotonic() - began, 1)})

    def run(self, parts: set[str]) -> bool:
        self.work.mkdir(parents=True, exist_ok=True)
        self.gate.unlink(missing_ok=True)
        if not (self.model / "oracle.json").exists():
            subprocess.run([sys.executable, "-m", "tests.gpu.oracle_weights", str(self.model)], check=True)
        stand_in.write(self.stand_in)
        stand_in.write(self.work / "thin", "thin")
        if "env" in parts:
            self.part("env", lambda limit: machine_facts.found(), 60)
        if "reopen" in parts:
            self.part("reopen", lambda limit: stage_reopen.run(self.work / "thin", self.work, limit), self.left - 5)
        alone = {"env", "humming", "head", "resolve", "reopen", "lab_full"}
        self.overlap(parts - alone, kept_s=LAB_S if "lab_full" in parts else 0)
        if "resolve" in parts:
            call = self.alone("resolve", "from tests.gpu.stage_resolve import run", "run()")
            self.part("resolve", call, self.left - 5)
        if "humming" in parts:
            self.part("humming", self.speed("humming", 32_200), self.left - 5)
        if "lab_full" in parts:
            self.part("lab_full", self.lab(stage_lab.full(self.stand_in)), self.left - 8)
        if "head" in parts and self.left > 25:
            call = self.alone("head", "from tests.gpu.stage_head import run", f"run({self.given.sweep})")
            self.part("head", call, self.left - 3)
        self.keep("caches", {"ok": True} | machine_facts.caches())
        machine_facts.pack_logs(self.work, self.out / f"logs-{self.given.name}.tar.xz")
        print(table.of_visit(self.records))
        return all(record.get("ok") for record in self.records.values())

    def keep(self, name: str, record: dict[str, Any]) -> None:
        with self.turn:
            self.ended += 1
            self.turn.notify_all()
            self.records[name] = record
            self.out.mkdir(parents=True, exist_ok=True)
            head = {"date": time.strftime("%Y-%m-%d"), "commit": machine_facts.commit()}
            part = self.out / "visit.part"
            part.write_text(json.dumps(head | self.records, indent=1, default=str, ensure_ascii=False))
            part.replace(self.out / f"visit-{self.given.name}.json")
            for kept in ("tui.screens.json", "check.stdout.json"):
                if (self.work / kept).exists():
                    (self.out / kept).write_bytes((self.work / kept).read_bytes())
        print(f"== {name}: {'ok' if record.get('ok') else 'FAIL ' + str(record.get('error') or '')[:300]}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=[*GROUPS, *PARTS])
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT") or "tests/gpu/records"))
    parser.add_argument("--work", type=Path, default=Path("/tmp/visit"), help="models, jobs and their logs")
    parser.add_argument("--name", default="")
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--sweep", type=int, default=0, help="seconds for trying configurations of the head's kernel")
    parser.add_argument("--only", default="", help="toggles whose name has this in it")
    parser.add_argument("--leaders", action="store_true", help="start all toggles at once: caches are full already")
    given = parser.parse_args()
    given.name = given.name or "-".join(given.parts)
    os.environ.update(prebuild.SPLIT)
    wanted = {part for name in given.parts for part in GROUPS.get(name, (name,))}
    visit = Visit(given)
    right = visit.run(wanted)
    sys.stdout.flush()
    os._exit(0 if right else 1)  # a thread whose process would not end must not hold the visit


if __name__ == "__main__":
    main()

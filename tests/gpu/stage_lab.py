"""The cumulative table as a person asks for it: `spark-chat bench run --cumulative`, on the oracle and on the stand-in.

Each configuration has an engine of its own, one after the other. A configuration that hangs is ended, so that it is a
row with its reason and the others still come; at the limit the bench is stopped as by ctrl+c, and what was measured by
then is kept.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from tests.gpu import jobs
from tests.gpu.oracle_text import ASSISTANT, Oracle
from tests.processes import end_with_us

VARY = ("humming=off,on", "fp8_head=off,on", "mtp=off,on")
RUNGS = len(VARY) + 1
WORKER = "spark_chat.engine.worker"
LOOK_S = 0.5
LAST_S = 20.0
"""Before the limit: for what is measured to be written down after ctrl+c."""
ACCEPT = "2.68"
ROW = ("name", "settings", "decode_tok_s", "ratio_to_first", "accept_length", "ttft_s", "verify_step_ms",
       "plain_step_ms", "verify_over_plain_step", "break_even_accept_length", "start_s", "compile_s", "cache_bytes",
       "memory_bytes", "runs_counted", "texts_differ", "failure")  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One run of the bench. `tokens`: of every answer. `args`: engine.args. `flags`: more of the bench's own.
    `start_s`: what a configuration takes where nothing is wrong; each of those that follow has as much kept for it."""

    name: str
    model: Path
    tokens: int
    start_s: float
    engine: str = "sglang"
    args: dict[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ("code",)
    variables: dict[str, str] = field(default_factory=dict)
    known: bool = False


def oracle(model: Path) -> Case:
    """Its text and counts are known: 129 tokens are the prefill's and 32 times four. Its speed says nothing, so no
    configuration is asked again, and others may be at work."""
    args = {"max_total_tokens": 16_384, "mem_fraction_static": 0.8}
    return Case(
        "oracle", model, 129, 35, args=args, flags=("--order", "interleaved", "--bandwidth", "4800"), known=True
    )


def full(model: Path) -> Case:
    """The stand-in of Ling's shape, timed alone. With random weights no draft is right: how many are is set."""
    args = {"load_format": "dummy", "max_total_tokens": 32_768}
    return Case("stand-in", model, 128, 60, args=args, variables={"SGLANG_SIMULATE_ACC_LEN": ACCEPT})


def command(case: Case, folder: Path) -> list[str]:
    path = folder / f"lab-{case.name}.toml"
    given = ", ".join(f"{name} = {json.dumps(value)}" for name, value in case.args.items())
    path.write_text(f"[engine]\nargs = {{ {given} }}\n" if given else "")
    sets = {"sampling.thinking": "false", "engine.context": "8192", "optimizations.strict": "false"}
    found = [sys.executable, "-m", "spark_chat", "bench", "run", "--cumulative"]
    for axis in VARY:
        found += ["--vary", axis]
    found += [*case.prompts, "--rounds", "1", "--fixed-length", "--max-tokens", str(case.tokens), "--json"]
    found += ["--model", str(case.model), "--engine", case.engine, "--config", str(path)]
    for key, value in sets.items():
        found += ["--set", f"{key}={value}"]
    return [*found, *case.flags]


def run(case: Case, work: Path, out: Path, limit_s: float) -> dict[str, Any]:
    """The record of it; the bench's own goes to `out`/lab-NAME.json, whole."""
    work.mkdir(parents=True, exist_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    home, kept, log = work / f"lab-{case.name}.home", out / f"lab-{case.name}.json", work / f"lab-{case.name}.log"
    variables = jobs.environment(home, case.variables)
    with kept.open("wb") as data, log.open("wb") as said:
        bench = subprocess.Popen(
            command(case, work), stdout=data, stderr=said, env=variables, start_new_session=True,
            preexec_fn=end_with_us,
        )  # fmt: skip
        watch = Watch(bench, case.start_s, time.monotonic() + limit_s)
        try:
            watch.to_the_end()
        finally:
            watch.end()
    try:
        record = json.loads(kept.read_text())
    except ValueError:
        return {"ok": False, "error": f"no record, exit code {bench.returncode}", "said": jobs.tail(log, 15),
                "log_end": jobs.worker_log(home)}  # fmt: skip
    found = judged(case, record) | {"exit": bench.returncode, "ended": watch.ended, "said": jobs.tail(log, 40)}
    return found if found["ok"] else found | {"log_end": jobs.worker_log(home)}


class Watch:
    """Over one bench: its engines, and the time that is left. `until`: a time of time.monotonic(). `ended`: how many
    engines were ended here."""

    def __init__(self, bench: subprocess.Popen[bytes], start_s: float, until: float) -> None:
        self._bench, self._start_s, self._until = bench, start_s, until
        self._seen: dict[int, float] = {}
        self._stopping = False
        self.ended = 0

    def to_the_end(self) -> None:
        """Come back once the bench has ended, or at the limit."""
        while self._bench.poll() is None and time.monotonic() < self._until:
            self._look(time.monotonic())
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._bench.wait(LOOK_S)

    def _look(self, now: float) -> None:
        for worker in self._workers():
            since = self._seen.setdefault(worker.pid, now)
            if now - since > self.cap(since, len(self._seen)) > 0:
                self._kill(worker.pid)
                self.ended += 1
        if now > self._until - LAST_S and not self._stopping:
            self._stopping = True
            self._bench.send_signal(signal.SIGINT)

    def cap(self, since: float, place: int) -> float:
        """How long the engine that came up at `since`, the `place`-th, may take: all the time but what the others
        behind it need, and never less than one needs."""
        return max(self._start_s, self._until - LAST_S - since - self._start_s * max(0, RUNGS - place))

    def _workers(self) -> list[psutil.Process]:
        found = []
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(self._bench.pid).children():
                with contextlib.suppress(psutil.Error):  # it has just ended
                    found += [child] if WORKER in " ".join(child.cmdline()) else []
        return found

    @staticmethod
    def _kill(group: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)  # a worker leads a group of its own

    def end(self) -> None:
        """Nothing of it is left behind."""
        workers = [worker.pid for worker in self._workers()]
        if self._bench.poll() is None:
            self._kill(self._bench.pid)
        for worker in workers:
            self._kill(worker)
        self._bench.wait()


def judged(case: Case, record: dict[str, Any]) -> dict[str, Any]:
    """`ok`: every configuration was measured with its badges as asked; on the oracle also text and counts."""
    rows = [_row(item) for item in record["configurations"]]
    found: dict[str, Any] = {
        "case": case.name, "rows": rows, "cumulative": record["cumulative"], "drift": record["drift"],
        "order": record["order"], "interrupted": record["interrupted"], "limit": record["limit"],
        "notes": record["notes"], "tokens": case.tokens, "prompts": len(record["workload"]["prompts"]),
    }  # fmt: skip
    problems = [f"{row['name']}: {reason}" for row in rows for reason in _wrong(row, case, found["prompts"])]
    if case.known:
        problems += _unlike_the_known(case, record)
        found["accept_constructed"] = Oracle.load(case.model).expect(ASSISTANT, case.tokens).accept_length
    return found | {"ok": not problems, "problems": problems, "error": "; ".join(problems)}


def _row(item: dict[str, Any]) -> dict[str, Any]:
    states = {name: badge["state"] for name, badge in item["optimizations"].items()}
    reasons = {name: badge["reason"] for name, badge in item["optimizations"].items() if badge["reason"]}
    failure = " ".join(item["failure"].split()) if item["failure"] else None
    return {key: item[key] for key in ROW} | {"failure": failure, "states": states, "reasons": reasons}


def _wrong(row: dict[str, Any], case: Case, prompts: int) -> list[str]:
    if row["failure"] or row["runs_counted"] < prompts:
        return [str(row["failure"] or f"{row['runs_counted']} of {prompts} answers")]
    asked = {key.removeprefix("optimizations."): "ACTIVE" if on else "OFF" for key, on in row["settings"].items()}
    return [f"{name} is {row['states'].get(name)}" for name, state in asked.items()
            if case.engine == "sglang" and row["states"].get(name) != state]  # fmt: skip


def _unlike_the_known(case: Case, record: dict[str, Any]) -> list[str]:
    known = Oracle.load(case.model).expect(ASSISTANT, case.tokens)
    found = []
    for item in record["configurations"]:
        if item["texts_differ"]:
            found.append(f"{item['name']}: another text on {', '.join(item['texts_differ'])}")
        for run in item["runs"]:
            if run["role"] != "measured":
                continue
            if run["completion_tokens"] != case.tokens:
                found.append(f"{item['name']}: {run['completion_tokens']} tokens on {run['item']}")
            steps = run["verify_steps"]
            if steps is not None and (steps, run["accepted_drafts"]) != (known.verify_steps, known.accepted_drafts):
                found.append(f"{item['name']}: {steps} steps, {run['accepted_drafts']} drafts on {run['item']}")
    return found

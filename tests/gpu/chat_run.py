"""One engine start through the app's own driver, and some answers from it: what a visit runs in processes of its own.

usage: python -m tests.gpu.chat_run JOB.json RESULT.json
The job: {"settings": {dotted key: value}, "asks": [{"prompt", "max_tokens", "thinking", ...}], "share_head": bool,
"worker": module, "gate": path, "pretend_gpu": bool}. The result is written at ready and after every answer, so that a
time limit takes away only what had not happened. With a gate, answers wait until that file is there: what is timed
runs alone. An ask with "how" goes to lab_worker.py. The last key lets a job be tried on a CPU.
"""

from __future__ import annotations

import asyncio
import json
import math
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from spark_chat.driver.asking import Asking
from spark_chat.driver.driver import Driver
from spark_chat.driver.snapshot import Snapshot
from spark_chat.engine.client import EngineClient
from spark_chat.engine.protocol import Turn
from spark_chat.lab.figures import badge_json, failure_json, run_json
from spark_chat.machine import Gpu, machine
from spark_chat.settings.schema import Settings
from tests import waiting

GATE_S = 0.2


def settings(values: dict[str, Any]) -> Settings:
    """The defaults with some values put in, by dotted key."""
    found = Settings()
    for key, value in values.items():
        section, _, name = key.partition(".")
        found = replace(found, **{section: replace(getattr(found, section), **{name: value})})
    return found


class UnsharedClient(EngineClient):
    """Takes the sharing of the head away, so that the app must say that it is gone."""

    async def start(self, recipe: Any, on_event: Any, log: Path | None = None, admit: Any = None) -> None:
        await super().start(replace(recipe, options={**recipe.options, "share_head": False}), on_event, log, admit)


class Session:
    """One start and its answers."""

    def __init__(self, job: dict[str, Any], result: Path) -> None:
        self.job, self.base, self.result = job, settings(job["settings"]), result
        self.stages: list[tuple[float, str]] = []
        self.runs: list[dict[str, Any]] = []
        self.began, self.ready_s = time.monotonic(), 0.0
        pretended = replace(machine(), gpu=Gpu("no GPU", (9, 0))) if job.get("pretend_gpu") else None
        self.asking = Asking(
            lambda listener: Driver(listener, machine=pretended, client_factory=self._client), self._changed
        )

    def _client(self) -> EngineClient:
        if not self.job.get("share_head", True):
            return UnsharedClient()
        return EngineClient(self.job["worker"]) if "worker" in self.job else EngineClient()

    def _changed(self, snapshot: Snapshot) -> None:
        told = snapshot.progress
        if told is not None and (not self.stages or self.stages[-1][1] != told.stage):
            self.stages.append((round(time.monotonic() - self.began, 1), told.stage))
            print(f"[{self.job.get('name')}] {self.stages[-1]}", flush=True)

    async def ask(self, number: int, ask: dict[str, Any]) -> dict[str, Any]:
        sampling = {key: value for key, value in ask.items() if key not in ("prompt", "how")}
        given = replace(self.base, sampling=replace(self.base.sampling, **sampling))
        name = f"{ask.get('how', 'ask')}-{number}"
        run = await self.asking.ask(name, (Turn("user", ask["prompt"]),), given)
        if run is None:
            return {"failure": "interrupted"}
        return run_json(run) | {"failure": failure_json(run.failure), "how": ask.get("how", "app")}

    async def run(self) -> None:
        driver = self.asking.driver
        assert isinstance(driver, Driver)
        try:
            await self.asking.start(self.base)
            self.ready_s = round(time.monotonic() - self.began, 1)
            self.save(driver.snapshot)
            if "gate" in self.job and self.asking.ready:
                gate = Path(self.job["gate"])
                await waiting.until(gate.exists, seconds=math.inf, every=GATE_S)  # whoever started this ends it
            for number, ask in enumerate(self.job["asks"]):
                if not self.asking.ready:
                    break
                self.runs.append(await self.ask(number, ask))
                self.save(driver.snapshot)
        finally:
            await driver.close()

    def save(self, snapshot: Snapshot) -> None:
        found = {
            "name": self.job.get("name"),
            "ready_s": self.ready_s,
            "stages": self.stages,
            "phase": snapshot.phase.value,
            "failure": failure_json(snapshot.failure),
            "log_end": list(snapshot.log_end),
            "optimizations": {badge.name: badge_json(badge) for badge in snapshot.badges},
            "args": snapshot.recipe.args if snapshot.recipe else {},
            "facts": snapshot.ready.facts if snapshot.ready else {},
            "runs": self.runs,
        }
        part = self.result.with_suffix(".part")
        part.write_text(json.dumps(found, indent=1, default=str))
        part.replace(self.result)


def main() -> None:
    asyncio.run(Session(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])).run())


if __name__ == "__main__":
    main()

"""One engine start through the app's own driver, and some answers from it: what a visit runs in processes of its own.

usage: python -m tests.gpu.chat_run JOB.json RESULT.json
The job: {"settings": {dotted key: value}, "asks": [{"prompt", "max_tokens", "thinking", ...}], "share_head": bool,
"pretend_gpu": bool}; the last one lets a job be tried on a CPU.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from spark_chat.driver.driver import Driver
from spark_chat.driver.snapshot import Answered, Changed, Phase, Piece, Update
from spark_chat.engine.client import EngineClient
from spark_chat.engine.protocol import Turn
from spark_chat.headless import report
from spark_chat.headless.check import Run
from spark_chat.machine import Gpu, machine
from spark_chat.settings.schema import Settings


def settings(values: dict[str, Any]) -> Settings:
    """The defaults with some values put in, by dotted key."""
    found = Settings()
    for key, value in values.items():
        section, _, name = key.partition(".")
        found = replace(found, **{section: replace(getattr(found, section), **{name: value})})
    return found


class UnsharedClient(EngineClient):
    """Takes the sharing of the head away, so that the app must say that it is gone."""

    async def start(self, recipe: Any, on_event: Any, log: Path | None = None) -> None:
        await super().start(replace(recipe, options={**recipe.options, "share_head": False}), on_event, log)


class Session:
    """One start and its answers."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job, self.base = job, settings(job["settings"])
        factory = EngineClient if job.get("share_head", True) else UnsharedClient
        pretended = replace(machine(), gpu=Gpu("no GPU", (9, 0))) if job.get("pretend_gpu") else None
        self.driver = Driver(self._listen, machine=pretended, client_factory=factory)
        self.text: dict[str, list[str]] = {}
        self.reasoning: dict[str, list[str]] = {}
        self.ended: dict[str, asyncio.Future[Answered]] = {}
        self.stages: list[tuple[float, str]] = []
        self.began = time.monotonic()

    def _listen(self, update: Update) -> None:
        if isinstance(update, Changed):
            told = update.snapshot.progress
            if told is not None and (not self.stages or self.stages[-1][1] != told.stage):
                self.stages.append((round(time.monotonic() - self.began, 1), told.stage))
                print(f"[{self.job.get('name')}] {self.stages[-1]}", flush=True)
        elif isinstance(update, Piece):
            self.text[update.id].append(update.text)
            self.reasoning[update.id].append(update.reasoning)
        elif isinstance(update, Answered) and not self.ended[update.id].done():
            self.ended[update.id].set_result(update)

    async def ask(self, id: str, ask: dict[str, Any]) -> dict[str, Any]:
        sampling = {key: value for key, value in ask.items() if key != "prompt"}
        given = replace(self.base, sampling=replace(self.base.sampling, **sampling))
        self.text[id], self.reasoning[id] = [], []
        self.ended[id] = asyncio.get_running_loop().create_future()
        self.driver.ask(id, (Turn("user", ask["prompt"]),), given)
        answered = await self.ended[id]
        run = Run("".join(self.text[id]), "".join(self.reasoning[id]), answered.numbers, answered.failure)
        failure = answered.failure
        return report.run_json(run) | {"failure": None if failure is None else f"{failure.what} {failure.why}"}

    async def run(self) -> dict[str, Any]:
        await self.driver.start(self.base)
        ready_s = time.monotonic() - self.began
        runs = []
        try:
            for number, ask in enumerate(self.job["asks"]):
                if self.driver.snapshot.phase is not Phase.READY:
                    break
                runs.append(await self.ask(f"ask-{number}", ask))
            snapshot = self.driver.snapshot
            return {
                "name": self.job.get("name"),
                "ready_s": round(ready_s, 1),
                "stages": self.stages,
                "phase": snapshot.phase.value,
                "failure": None if snapshot.failure is None else vars_of(snapshot.failure),
                "log_end": list(snapshot.log_end),
                "optimizations": {badge.name: report.badge_json(badge) for badge in snapshot.badges},
                "args": snapshot.recipe.args if snapshot.recipe else {},
                "facts": snapshot.ready.facts if snapshot.ready else {},
                "runs": runs,
            }
        finally:
            await self.driver.close()


def vars_of(failure: Any) -> dict[str, Any]:
    return {name: getattr(failure, name) for name in ("code", "what", "why", "remedy")}


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    found = asyncio.run(Session(job).run())
    Path(sys.argv[2]).write_text(json.dumps(found, indent=1, default=str))


if __name__ == "__main__":
    main()

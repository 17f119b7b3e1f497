"""A check's outcome as JSON, as lines for a person, and as an exit code."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from spark_chat.driver.snapshot import Phase
from spark_chat.headless.check import Outcome
from spark_chat.lab.figures import LEARNED, badge_json, failure_json, run_json, settings_json
from spark_chat.meters import units
from spark_chat.meters.line import answer_line
from spark_chat.optimizations.mtp import NGRAM
from spark_chat.optimizations.optimization import State

if TYPE_CHECKING:
    from spark_chat.engine.protocol import Ready

MEDIANS = ("ttft_s", "tpot_s", "prefill_tok_s", "decode_tok_s", "accept_length", "completion_tokens")
FINE, ENGINE_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def as_json(outcome: Outcome) -> dict[str, Any]:
    """The record of a check. A number without a meaning is null. `medians` are over the warm runs, or over all where
    none is warm; `medians_over` says which."""
    snapshot = outcome.snapshot
    ready, recipe = snapshot.ready, snapshot.recipe
    runs = [run_json(run) for run in outcome.runs]
    over, chosen = _chosen(runs)
    return {
        "engine": ready.engine if ready else recipe.engine if recipe else None,
        "version": ready.version if ready else None,
        "model": recipe.model.name if recipe else None,
        "context": ready.context if ready else None,
        "ready_s": snapshot.ready_s,
        "taken_over": _taken_over(ready),
        "compiled": ready.facts.get("compiled") if ready else None,
        "settings": settings_json(outcome.settings),
        "optimizations": {badge.name: badge_json(badge) for badge in snapshot.badges},
        "runs": runs,
        "medians": {name: _median([run[name] for run in chosen]) for name in MEDIANS},
        "medians_over": over,
        "notes": notes(outcome),
        "interrupted": outcome.interrupted,
        "failure": failure_json(outcome.failure),
    }


def _taken_over(ready: Ready | None) -> dict[str, Any] | None:
    """Of an engine that was ready before: for how long (seconds), its answers by then, and the stages of its start."""
    if ready is None or ready.past is None:
        return None
    return {"ready_for_s": ready.past.age_s, "answers": ready.past.turns, "stages": ready.past.stages}


def _chosen(runs: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """The runs that medians are taken of: those that came to their end, the warm ones among them where there are."""
    whole = [run for run in runs if run["finish_reason"] not in ("abort", "failed", None)]
    warm = [run for run in whole if not run["cold"]]
    return ("warm runs", warm) if warm else ("all runs", whole)


def _median(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def notes(outcome: Outcome) -> list[str]:
    """What a reader of the numbers must know: how the recipe came about, and what makes runs unlike a new prompt."""
    return [*(outcome.snapshot.recipe.notes if outcome.snapshot.recipe else ()), *_learned(outcome)]


def _learned(outcome: Outcome) -> list[str]:
    ngram = any(badge.label == NGRAM and badge.state is State.ACTIVE for badge in outcome.snapshot.badges)
    return [LEARNED] if ngram and len(outcome.runs) > 1 else []


def answers(outcome: Outcome) -> list[str]:
    """What the model wrote, for a person: each text once. Of several, each stands under the runs that gave it."""
    by_text: dict[str, list[str]] = {}
    for number, run in enumerate(outcome.runs, 1):
        by_text.setdefault(run.text, []).append(str(number))
    if len(by_text) <= 1:
        return [text.rstrip("\n") for text in by_text if text.strip()]
    return [f"run{'s' if len(runs) > 1 else ''} {', '.join(runs)}:\n{text.rstrip()}" for text, runs in by_text.items()]


def as_lines(outcome: Outcome) -> list[str]:
    """The same for a person: what ran, its badges, a line a run, the medians. Notes on the recipe were narrated."""
    snapshot = outcome.snapshot
    lines = []
    if snapshot.ready is not None and snapshot.recipe is not None:
        engine = f"{snapshot.ready.engine} {snapshot.ready.version}".rstrip()
        lines.append(f"{snapshot.recipe.model.name} · {engine} · context {units.count(snapshot.ready.context)}")
    width = max((len(badge.label) for badge in snapshot.badges), default=0)
    for badge in snapshot.badges:
        said = badge.warning or badge.reason
        lines.append(f"{badge.state.mark} {badge.label:<{width}}  {badge.state.value:<11}  {said}".rstrip())
    lines += [f"run {number}: {answer_line(run.numbers)}" for number, run in enumerate(outcome.runs, 1)]
    over, chosen = _chosen([run_json(run) for run in outcome.runs])
    if len(chosen) > 1:
        middle = {name: _median([run[name] for run in chosen]) for name in MEDIANS}
        tpot = middle["tpot_s"]
        lines.append(
            f"median of {len(chosen)} {over}: {units.rate(middle['decode_tok_s'])} tok/s, "
            f"TTFT {units.seconds(middle['ttft_s'])}, "
            f"TPOT {units.milliseconds(None if tpot is None else tpot * 1000)}, "
            f"accept {units.accept(middle['accept_length'])}"
        )
    return [*lines, *_learned(outcome)]


def failure_lines(outcome: Outcome) -> list[str]:
    """Why it failed, what to do, and the end of the engine's log; empty where it did not."""
    failure = outcome.failure
    if failure is None:
        if outcome.snapshot.phase is Phase.ASKING and outcome.snapshot.progress is not None:
            return [outcome.snapshot.progress.text + "; start spark-chat and give it there."]
        return []
    lines = [part for part in (failure.what, failure.why, failure.remedy) if part]
    if outcome.snapshot.log_end:
        lines += ["The end of the engine's log:", *(f"  {line}" for line in outcome.snapshot.log_end)]
    return lines


def exit_code(outcome: Outcome) -> int:
    """0 fine, 1 the engine failed, 2 bad input, 130 interrupted."""
    failure = outcome.failure
    if outcome.interrupted:
        return INTERRUPTED
    if failure is None:
        return FINE if outcome.runs else ENGINE_FAILED
    key = str(failure.facts.get("key", ""))
    refused = failure.id is None and failure.code == "request"  # an engine argument that does not exist
    return BAD_INPUT if refused or failure.code == "overflow" or key.startswith("engine.") else ENGINE_FAILED

"""The badges at each moment of the engine's life, and what the saved settings will change at restart."""

from __future__ import annotations

from dataclasses import replace

from spark_chat.engine.protocol import Ready
from spark_chat.machine import Machine
from spark_chat.meters.numbers import Counters
from spark_chat.optimizations import judge
from spark_chat.optimizations.optimization import Badge, Optimization, State
from spark_chat.optimizations.table import OPTIMIZATIONS, optimization
from spark_chat.recipe.profile import PROFILES
from spark_chat.recipe.recipe import Recipe
from spark_chat.settings.schema import Row, Settings, rows, value


def unknown(settings: Settings, machine: Machine | None) -> tuple[Badge, ...]:
    """Before it is known which engine runs: unavailable is only what no engine has here."""
    return tuple(
        judge.starting(item.name, item.label, bool(getattr(settings.optimizations, item.name)), _nowhere(item, machine))
        for item in OPTIMIZATIONS
    )


def _nowhere(item: Optimization, machine: Machine | None) -> str | None:
    reasons = [item.unavailable(engine, machine) for engine in PROFILES] if machine is not None else [None]
    return None if None in reasons else reasons[0]


def starting(recipe: Recipe) -> tuple[Badge, ...]:
    """While the engine of `recipe` comes up."""
    return tuple(
        judge.starting(item.name, item.label, recipe.requested[item.name], recipe.unavailable.get(item.name))
        for item in OPTIMIZATIONS
    )


def judged(recipe: Recipe, ready: Ready) -> tuple[Badge, ...]:
    """Once it is up: by its proofs."""
    return tuple(
        item.judge(recipe.requested[item.name], recipe.unavailable.get(item.name), ready.proofs.get(item.name))
        for item in OPTIMIZATIONS
    )


def watched(badges: tuple[Badge, ...], counters: Counters) -> tuple[Badge, ...]:
    """As the counters go on; `badges` are those that `judged` gave."""
    return tuple(optimization(badge.name).watch(badge, counters) for badge in badges)


def gone(badges: tuple[Badge, ...], why: str = "The engine is not running.") -> tuple[Badge, ...]:
    """Once the engine is gone or did not come up."""
    return tuple(judge.not_running(badge, why) for badge in badges)


def waiting(badges: tuple[Badge, ...], recipe: Recipe | None = None) -> tuple[Badge, ...]:
    """While no engine is started, since there is no model, or what `recipe` needs is not there: nothing has failed, and
    nothing starts."""
    reason = "The engine was not started" + (": there is no model yet." if recipe is None else ".")
    return tuple(
        replace(badge, state=State.WAITING, reason=reason) if badge.state is State.STARTING else badge
        for badge in badges
    )


def stopped(badges: tuple[Badge, ...]) -> tuple[Badge, ...]:
    """Once the engine was stopped for what was not seen: those that were seen say so."""
    reasons = {
        State.ACTIVE: "It was seen at work, but the engine was stopped.",
        State.STARTING: "It was set up, but the engine was stopped.",
    }
    return tuple(
        replace(badge, state=State.FAILED, reason=reasons[badge.state], word="") if badge.state in reasons else badge
        for badge in badges
    )


def marked(badges: tuple[Badge, ...], saved: Settings) -> tuple[Badge, ...]:
    """With a mark on each whose saved setting differs from what was asked for at this start."""
    return tuple(badge.with_pending(bool(getattr(saved.optimizations, badge.name))) for badge in badges)


def pending(running: Settings, saved: Settings) -> tuple[str, ...]:
    """Dotted keys that will change at the engine's restart; those of the screen wait for another one."""
    return tuple(
        row.key
        for row in rows()
        if row.restart and not row.key.startswith("ui.") and _at(running, row) != _at(saved, row)
    )


def _at(settings: Settings, row: Row) -> object:
    """The value; a table that is left out equals an empty one."""
    found: object = value(settings, row.key)
    return found or {} if row.kind == "table" else found


def failed(badges: tuple[Badge, ...]) -> str:
    """Which optimizations are not as they were asked for, in sentences; empty where all are. One that can't be had
    here is no failure: its badge says so and why."""
    found = [badge for badge in badges if badge.state is State.FAILED]
    return " ".join(f"{badge.label}: {badge.reason.rstrip('.')}." for badge in found)

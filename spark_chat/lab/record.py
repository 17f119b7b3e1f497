"""A measurement's record: machine, versions, settings with where they came from, proofs, every run, and what it comes
to. No host name and no absolute path is in it, so that it can be given away."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from typing import Any

from spark_chat import __version__
from spark_chat.lab import summary
from spark_chat.lab.archive import FORMAT
from spark_chat.lab.figures import LEARNED, settings_json
from spark_chat.lab.plan import Plan
from spark_chat.lab.results import Answer, AnyFound, Order, Start, to_builtins
from spark_chat.lab.summary import Share
from spark_chat.lab.variation import ladder
from spark_chat.machine import Machine
from spark_chat.meters import units
from spark_chat.optimizations.mtp import NGRAM
from spark_chat.optimizations.table import optimization


def record(
    plan: Plan,
    found: Sequence[AnyFound],
    *,
    id: str,
    made: str,
    machine: Machine,
    interrupted: bool = False,
    own_engines: bool = True,
    limit: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """As JSON. `own_engines`: started for this alone. `limit`: what the memory's bandwidth allows, where it is known
    (`limit.py`)."""
    all_shares = summary.shares(found, len(plan.configurations))
    configurations = [_configuration(plan, place, all_shares) for place in range(len(plan.configurations))]
    order = next((item.order for item in found if isinstance(item, Order)), None)
    rungs = ladder([item.changes for item in plan.configurations], plan.keys)
    return {
        "format": FORMAT,
        "id": id,
        "made": made,
        "machine": machine_json(machine),
        "versions": {"spark-chat": __version__, "python": platform.python_version()},
        "workload": {
            "name": plan.workload.name,
            "digest": plan.workload.digest,
            "prompts": [{"name": item.name, "kind": item.kind, "digest": item.digest} for item in plan.workload.items],
            "extraction": plan.workload.extraction or None,
            "note": plan.workload.note or None,
        },
        "sampling": plan.sampling,
        "rounds": plan.rounds,
        "fresh": plan.fresh,
        "fixed_length": plan.fixed_length,
        "order": order,
        "own_engines": own_engines,
        "drift": summary.drift(all_shares[0], plan.rounds),
        "configurations": configurations,
        "cumulative": [_rung(place, key, configurations) for place, key in rungs],
        "limit": limit,
        "notes": [_whose_engine(all_shares, own_engines), *_notes(all_shares)],
        "interrupted": interrupted,
    }


def _whose_engine(all_shares: Sequence[Share], own: bool) -> str:
    """An engine that somebody used before has a warm cache and knows their words; one that is shared is slower."""
    if own:
        each = "Each configuration ran on engines" if len(all_shares) > 1 else "It ran on an engine"
        return f"{each} of its own: started for this, shared with nobody, not left behind."
    taken = next((start.facts["taken_over_after_s"] for share in all_shares for start in share.starts
                  if "taken_over_after_s" in start.facts), None)  # fmt: skip
    since = "" if taken is None else f", taken over {units.seconds(taken)} after it was ready"
    return f"It ran on the chat's engine{since}; other windows may have shared it."


def _notes(all_shares: Sequence[Share]) -> list[str]:
    """What a reader of the numbers must know."""
    drafting = {place for place, share in enumerate(all_shares) for visit in share.visits
                if visit.optimizations.get("mtp", {}).get("proof", {}).get("kind") == NGRAM}  # fmt: skip
    repeated = any(len({item.round for item in all_shares[place].counted}) > len(all_shares[place].starts)
                   for place in drafting)  # fmt: skip
    return [LEARNED] if repeated else []


def _configuration(plan: Plan, place: int, all_shares: Sequence[Share]) -> dict[str, Any]:
    share, first, configuration = all_shares[place], all_shares[0], plan.configurations[place]
    up = [start for start in share.starts if start.failure is None]
    visits = share.visits
    greedy = plan.settings(place).sampling.temperature == 0
    return {
        "name": configuration.name,
        "settings": dict(configuration.changes),
        "all_settings": _settings(plan, place),
        "engine": up[-1].engine if up else share.starts[-1].engine if share.starts else None,
        "version": up[-1].version if up else None,
        "model": up[-1].model if up else share.starts[-1].model if share.starts else None,
        "context": up[-1].context if up else None,
        "facts": without_paths(up[-1].facts) if up else {},
        "optimizations": without_paths(visits[-1].optimizations) if visits else {},
        "failure": without_paths(share.failure),
        **summary.summary(share, first),
        **summary.verify(place, plan.configurations, all_shares),
        "texts_differ": summary.texts_differ(share, first) if greedy and place else [],
        "starts": [_start(start) for start in share.starts],
        "runs": [_run(answer) for answer in share.answers],
    }  # fmt: skip


def _settings(plan: Plan, place: int) -> dict[str, Any]:
    """Each with where it came from: a layer, and for a variable or flag its name; of a file no path."""
    configuration = plan.configurations[place]
    over = {} if plan.sampled else plan.workload.sampling
    found = {}
    for key, value in settings_json(plan.settings(place)).items():
        origin = plan.origins.get(key, "default")
        section, _, name = key.partition(".")
        if any(changed == key or changed.startswith(f"{key}.") for changed in configuration.changes):
            origin = "varied"
        elif section == "sampling" and (name in over or (name == "max_tokens" and plan.max_tokens is not None)):
            origin = "workload" if name != "max_tokens" or plan.max_tokens is None else "--max-tokens"
        found[key] = {"value": without_paths(value), "from": origin}
    if plan.sampling["system_prompt_digest"]:
        found["sampling.system_prompt"]["value"] = f"digest {plan.sampling['system_prompt_digest']}"
    return found


def _start(start: Start) -> dict[str, Any]:
    failure = without_paths(start.failure)
    return {"at_s": start.at_s, "ready_s": start.ready_s, "stages": start.stages, "failure": failure}


def _run(answer: Answer) -> dict[str, Any]:
    found = to_builtins(answer)
    del found["configuration"], found["kind"]
    return without_paths(found)  # type: ignore[no-any-return]


_PATH = re.compile(r"(?<![\w./:])(?:~[\w.-]*)?/(?:[^\s/'\"]+/)*([^\s/'\"]*)")


def without_paths(value: Any) -> Any:
    """`value` with each absolute path in its texts cut to its last part."""
    if isinstance(value, dict):
        return {key: without_paths(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_paths(item) for item in value]
    return _PATH.sub(r"\1", value) if isinstance(value, str) else value


def _rung(place: int, key: str, configurations: Sequence[dict[str, Any]]) -> dict[str, Any]:
    item = configurations[place]
    return {
        "name": f"+ {label(key, item['settings'][key])}" if key else "baseline",
        "configuration": place,
        "decode_tok_s": item["decode_tok_s"],
        "ratio_to_first": item["ratio_to_first"],
    }


def label(key: str, value: Any) -> str:
    """What a person calls a setting at a value: "MTP", "draft_steps 3"."""
    section, _, name = key.partition(".")
    if section == "optimizations" and value is True:
        return optimization(name).label
    return f"{name} {value}"


def machine_json(machine: Machine) -> dict[str, Any]:
    """What was measured on, by what it is made of."""
    gpu = machine.gpu
    return {
        "architecture": machine.architecture,
        "cpu": machine.cpu,
        "cores": machine.cores,
        "memory_bytes": machine.memory_bytes,
        "gpu": gpu.name if gpu else None,
        "capability": list(gpu.capability) if gpu and gpu.capability else None,
        "spark": machine.spark,
        "system": platform.system(),
    }

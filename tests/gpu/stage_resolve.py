"""Every recipe through SGLang's own resolution and checks, which need the chip, and what it made of each argument.

usage: python -m tests.gpu.stage_resolve     on a machine with a GPU: the recipes of this machine
       python -m tests.gpu.stage_resolve FILE.json     {name: arguments}, the model's folder among them
No weights are read and no kernel is built. Each recipe has a fresh process: a fork can't use
CUDA, which importing SGLang starts on a GPU.
"""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from spark_chat.machine import Machine, machine
from spark_chat.recipe import checkpoint, sglang_profile
from spark_chat.recipe.build import build
from spark_chat.recipe.recipe import ModelRef
from spark_chat.settings.schema import Settings
from tests.gpu import stand_in
from tests.gpu.stage_toggles import name_of

LIMIT_S = 120
TOGETHER = max(1, min(6, (os.cpu_count() or 1) // 2))
ALIASES = {("speculative_algorithm", "NEXTN"): "EAGLE"}
"""What SGLang calls otherwise and means the same."""


def recipes(folder: Path, here: Machine) -> dict[str, dict[str, Any]]:
    """The eight toggles, each with a fixed and an automatic draft length, and the published baseline."""
    found = {}
    for toggles in itertools.product((True, False), repeat=3):
        for steps in (3, "auto") if toggles[2] else (3,):
            base = Settings()
            humming, fp8_head, mtp = toggles
            wanted = replace(base.optimizations, humming=humming, fp8_head=fp8_head, mtp=mtp, draft_steps=steps)
            settings = replace(base, optimizations=wanted, engine=replace(base.engine, kind="sglang"))
            name = name_of(toggles) + ("-auto" if steps == "auto" else "")
            found[name] = build(settings, here, ModelRef("Ling", str(folder))).args
    found["baseline"] = sglang_profile.baseline(here, checkpoint.read(str(folder)))
    return {name: args | {"model_path": str(folder)} for name, args in found.items()}


def otherwise(given: Mapping[str, Any], resolved: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Arguments that came out as something else than the recipe says: [given, resolved]."""
    return {
        name: [value, resolved[name]]
        for name, value in given.items()
        if value is not None and name in resolved
        and resolved[name] not in (value, ALIASES.get((name, str(value)), value))
    }  # fmt: skip


def _resolve(args: dict[str, Any], end: Connection) -> None:
    from sglang.srt.server_args import ServerArgs

    from spark_chat.engine import sglang_args, sglang_request

    try:
        given = {name: value for name, value in args.items() if value is not None}
        sglang_args.check({name: value for name, value in given.items() if name != "model_path"})
        if given.get("speculative_algorithm"):  # as the worker does
            given.setdefault("speculative_draft_model_path", given["model_path"])
        if given.get("speculative_adaptive"):
            given["speculative_adaptive_config"] = sglang_request.written(sglang_request.ADAPTIVE)
        record = ServerArgs(**given)
        record.resolve_once()
        record.check_server_args()
        end.send({"otherwise": otherwise(given, record.resolved_dict()), "error": ""})
    except BaseException as error:
        end.send({"otherwise": {}, "error": f"{type(error).__name__}: {error}"[:400]})


def resolve(args: dict[str, Any]) -> dict[str, Any]:
    """{"otherwise", "error"} of one recipe, in its own process: SGLang sets environment and globals as it resolves."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_resolve, args=(args, theirs))
    process.start()
    theirs.close()
    try:
        found: dict[str, Any] = ours.recv() if ours.poll(LIMIT_S) else {"error": f"no end within {LIMIT_S} s"}
    except EOFError:
        found = {"error": "the process ended without a word"}
    process.kill()
    process.join()
    return found


def run(given: dict[str, dict[str, Any]] | None = None) -> dict[str, Any]:
    """ "right" where SGLang takes every recipe, and changes none of its values unless in name."""
    with tempfile.TemporaryDirectory() as folder:
        stand_in.write(Path(folder))
        wanted = given or recipes(Path(folder), machine())
        with ThreadPoolExecutor(TOGETHER) as pool:
            found = dict(zip(wanted, pool.map(resolve, wanted.values()), strict=True))
    return {"recipes": found, "right": not any(each["error"] or each["otherwise"] for each in found.values())}


def main() -> None:
    given = json.loads(Path(sys.argv[1]).read_text()) if len(sys.argv) > 1 else None
    found = run(given)
    print("RESULT " + json.dumps(found, default=str))
    sys.exit(0 if found["right"] else 1)


if __name__ == "__main__":
    main()

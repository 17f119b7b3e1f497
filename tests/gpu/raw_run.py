"""The same job as chat_run, on the engine alone: no worker, no protocol, no meters. For the app's own share."""

from __future__ import annotations

import json
import os
import sys
import time
import uuid
from pathlib import Path
from typing import Any

from spark_chat.machine import machine
from spark_chat.recipe.build import build
from spark_chat.recipe.recipe import ModelRef
from spark_chat.sglang_plugin import discovery, switches
from tests.gpu.chat_run import settings


async def ask(engine: Any, given: dict[str, Any]) -> dict[str, Any]:
    tokenizer = engine.tokenizer_manager.tokenizer
    messages = [{"role": "user", "content": given["prompt"]}]
    ids = tokenizer.apply_chat_template(
        messages, add_generation_prompt=True, tokenize=True, return_dict=False, enable_thinking=given["thinking"]
    )
    began = time.perf_counter()
    params = {"max_new_tokens": given["max_tokens"], "temperature": given["temperature"], "top_k": -1}
    stream = await engine.async_generate(input_ids=list(ids), sampling_params=params, stream=True, rid=uuid.uuid4().hex)
    first = last = tokens = 0.0
    start, meta = 0.0, {}
    async for chunk in stream:
        meta, last = chunk["meta_info"], time.perf_counter()
        tokens = meta["completion_tokens"]
        if not first:
            first, start = tokens, last
    tpot = (last - start) / (tokens - first) if tokens > first else None
    steps = meta.get("spec_verify_ct")
    return {"tpot_s": tpot, "decode_tok_s": 1 / tpot if tpot else None, "ttft_s": start - began,
            "accept_length": (tokens - 1) / steps if steps else None}  # fmt: skip


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    given = settings(job["settings"])
    folder = Path(given.engine.model)
    recipe = build(given, machine(), ModelRef(folder.name, str(folder)))
    wanted = recipe.load().optimizations
    os.environ.update(recipe.environment)
    os.environ.update(switches.environment(
        fp8_head=wanted["fp8_head"], shared_head=wanted["mtp"], humming_clamp=wanted["humming"]))  # fmt: skip
    discovery.ensure()
    from sglang.srt.entrypoints.engine import Engine

    args = {name: value for name, value in recipe.args.items() if value is not None}
    if args.get("speculative_algorithm"):
        args["speculative_draft_model_path"] = str(folder)
    began = time.monotonic()
    engine = Engine(model_path=str(folder), context_length=recipe.context, incremental_streaming_output=True, **args)
    found: dict[str, Any] = {"name": job["name"], "ready_s": time.monotonic() - began, "runs": []}

    async def all_of_it() -> None:
        for each in job["asks"]:
            found["runs"].append(await ask(engine, each))

    engine.loop.run_until_complete(all_of_it())
    Path(sys.argv[2]).write_text(json.dumps(found))
    engine.shutdown()


if __name__ == "__main__":
    main()

"""The app's worker with an engine that can also answer past the app: for the app's share, and for a profile.

An answer whose id starts with "raw" is drawn from SGLang by the smallest loop there is, with no worker, protocol or
meters in its way, and timed where its chunks arrive; its figures come back as the engine's own. One whose id starts
with "profile" runs under SGLang's profiler, and the time of each kernel comes back. App and raw so take turns on one
engine, a minute apart at most.
"""

from __future__ import annotations

import gzip
import json
import tempfile
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from spark_chat.engine import chat_template, sglang_request, worker
from spark_chat.engine.protocol import AnyEvent, Delta, Done, Generate, Started, Timings, Usage
from spark_chat.engine.sglang import SglangEngine
from spark_chat.engine.table import ENGINES
from tests import waiting

PROFILED_STEPS = 12
KEPT = 40
"""Kernels of a profile that are kept, the slowest first."""


class LabEngine(SglangEngine):
    """SglangEngine, and two more ways to answer."""

    async def generate(self, command: Generate) -> AsyncIterator[AnyEvent]:
        how = command.id.partition("-")[0]
        if how not in ("raw", "profile"):
            async for event in super().generate(command):
                yield event
            return
        yield Started(id=command.id, time=time.monotonic())
        folder = Path(tempfile.mkdtemp(prefix="profile-")) if how == "profile" else None
        found = await self._raw(command, folder)
        now = time.monotonic()
        usage = Usage(
            prompt_tokens=found["prompt_tokens"], cached_tokens=0, completion_tokens=found["tokens"],
            verify_steps=found.get("verify_steps"), accepted_drafts=found.get("accepted_drafts"),
        )  # fmt: skip
        yield Delta(id=command.id, tokens=found["tokens"], time=now)
        yield Done(id=command.id, finish="length", usage=usage, timings=Timings(engine=found), time=now)

    async def _raw(self, command: Generate, profile: Path | None) -> dict[str, Any]:
        ids, _ = chat_template.prompt(self._engine.tokenizer_manager.tokenizer, command.messages, command.thinking)
        params = sglang_request.params(command.sampling, self._defaults, 10**6)
        if profile is not None:
            await self._start_profile(profile)
        began = time.perf_counter()
        stream = await self._engine.async_generate(input_ids=ids, sampling_params=params, stream=True,
                                                   rid=uuid.uuid4().hex)  # fmt: skip
        first = tokens = 0
        start = last = began
        meta: dict[str, Any] = {}
        async for chunk in stream:
            meta, last = chunk["meta_info"], time.perf_counter()
            tokens = meta["completion_tokens"]
            if not first:
                first, start = tokens, last
        steps = meta.get("spec_verify_ct")
        found = {
            "prompt_tokens": meta["prompt_tokens"], "tokens": tokens, "ttft_s": start - began,
            "tpot_s": (last - start) / (tokens - first) if tokens > first else None,
            "verify_steps": steps, "accepted_drafts": meta.get("spec_num_correct_drafts"),
            "accept_length": (tokens - 1) / steps if steps else None,
        }  # fmt: skip
        return found if profile is None else found | kernels(profile)

    async def _start_profile(self, folder: Path) -> None:
        from sglang.srt.managers.io_struct import ProfileReq

        request = ProfileReq(output_dir=str(folder), num_steps=PROFILED_STEPS, activities=["CPU", "GPU"],
                             profile_by_stage=True, with_stack=False, record_shapes=False)  # fmt: skip
        await self._engine.tokenizer_manager.start_profile(request)


def kernels(folder: Path, patience_s: float = 40) -> dict[str, Any]:
    """Time on the GPU by kernel over the profiled steps, microseconds; and how much of the span nothing ran."""
    found: dict[str, Any] = {"profile": "no trace was written"}

    def whole() -> bool:
        nonlocal found
        for file in sorted(folder.glob("**/*DECODE*.json.gz"))[:1]:
            try:
                found = summed(json.loads(gzip.decompress(file.read_bytes()))["traceEvents"])
            except (OSError, ValueError, EOFError) as error:  # the file is there before it is whole
                found = {"profile": f"the trace can't be read: {error}"}
            else:
                return True
        return False

    waiting.comes(whole, patience_s, every=0.5)
    return found


def summed(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The same from the trace's events."""
    on_gpu = [event for event in events if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    took: dict[str, float] = defaultdict(float)
    calls = Counter[str]()
    busy, end = 0.0, float("-inf")
    for event in sorted(on_gpu, key=lambda event: float(event["ts"])):
        start, length = float(event["ts"]), float(event["dur"])
        took[event["name"]] += length
        calls[event["name"]] += 1
        busy += max(0.0, start + length - max(start, end))
        end = max(end, start + length)
    longest = sorted(took.items(), key=lambda item: -item[1])[:KEPT]
    span = end - min((float(event["ts"]) for event in on_gpu), default=end)
    return {
        "profile": {
            "steps": PROFILED_STEPS, "span_us": round(span, 1), "busy_us": round(busy, 1), "launches": len(on_gpu),
            "kernels": [[name[:90], calls[name], round(us, 1)] for name, us in longest],
        }
    }  # fmt: skip


if __name__ == "__main__":
    ENGINES["sglang"] = "tests.gpu.lab_worker:LabEngine"
    worker.main()

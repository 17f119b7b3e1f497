"""llama.cpp, in this process, through xllamacpp."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from spark_chat.engine.interface import EngineFailure, Report
from spark_chat.engine.protocol import (
    AnyEvent,
    Delta,
    Done,
    FinishReason,
    Generate,
    Load,
    Proof,
    Ready,
    Started,
    Timings,
    Usage,
)


class LlamaEngine:
    """One GGUF, loaded."""

    def __init__(self) -> None:
        self._server: Any = None
        self._context = 0
        self._aborted = threading.Event()

    def load(self, command: Load, report: Report) -> Ready:
        import xllamacpp

        path = Path(command.model)
        if not path.is_file():
            raise EngineFailure(
                "load", f"There is no model file {path.name}.", remedy="Give a .gguf file with --model."
            )
        report("start", None, "starting llama.cpp")
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx = self._context = command.context or 2048
        params.n_parallel = 1
        params.cpuparams.n_threads = max(1, len(os.sched_getaffinity(0)) - 1)
        mtp = command.optimizations.get("mtp", False)
        if mtp:
            params.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_MOD]
        report("weights", None, f"loading {path.name}")
        try:
            self._server = xllamacpp.Server(params)
        except RuntimeError as error:
            raise EngineFailure("load", f"llama.cpp could not load {path.name}.", str(error)) from error
        missing = "This needs SGLang on an NVIDIA GPU."
        return Ready(
            engine="llama.cpp",
            version=xllamacpp.__version__ if hasattr(xllamacpp, "__version__") else "",
            model=path.name,
            context=self._context,
            proofs={
                "humming": Proof(active=False, reason=missing),
                "fp8_head": Proof(active=False, reason=missing),
                "mtp": Proof(active=mtp, kind="n-gram" if mtp else "", reason="" if mtp else "It was not asked for."),
            },
            time=time.monotonic(),
        )

    async def generate(self, command: Generate) -> AsyncIterator[AnyEvent]:
        loop = asyncio.get_running_loop()
        chunks: deque[tuple[float, dict[str, Any] | None]] = deque()
        arrived = asyncio.Event()
        self._aborted.clear()
        sampling = command.sampling
        request: dict[str, Any] = {
            "messages": [{"role": turn.role, "content": turn.content} for turn in command.messages],
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": sampling.top_k,
            "ignore_eos": sampling.ignore_eos,
            "stream": True,
            "timings_per_token": True,
            "chat_template_kwargs": {"enable_thinking": command.thinking},
        }
        if sampling.seed is not None:
            request["seed"] = sampling.seed

        def take(chunk: dict[str, Any]) -> bool:
            chunks.append((time.monotonic(), chunk))
            loop.call_soon_threadsafe(arrived.set)
            return self._aborted.is_set()

        def run() -> None:
            try:
                self._server.handle_chat_completions(request, take)
            except Exception as error:
                chunks.append((time.monotonic(), {"error": {"message": str(error)}}))
            chunks.append((time.monotonic(), None))
            loop.call_soon_threadsafe(arrived.set)

        yield Started(id=command.id, time=time.monotonic())
        threading.Thread(target=run, name="llama", daemon=True).start()
        finish: FinishReason = "abort"
        timings: dict[str, Any] = {}
        while True:
            await arrived.wait()
            arrived.clear()
            while chunks:
                moment, chunk = chunks.popleft()
                if chunk is None:
                    drafts = timings.get("draft_n_accepted", 0)
                    tokens = timings.get("predicted_n", 0)
                    yield Done(
                        id=command.id,
                        finish=finish,
                        usage=Usage(
                            prompt_tokens=timings.get("prompt_n", 0) + timings.get("cache_n", 0),
                            cached_tokens=timings.get("cache_n", 0),
                            completion_tokens=tokens,
                            verify_steps=max(0, tokens - 1 - drafts),
                            accepted_drafts=drafts,
                            proposed_drafts=timings.get("draft_n", 0),
                        ),
                        timings=Timings(engine=timings),
                        time=moment,
                    )
                    return
                if "error" in chunk:
                    raise EngineFailure(
                        "request", "llama.cpp could not answer.", str(chunk["error"].get("message", ""))
                    )
                timings = chunk.get("timings") or timings
                choice = (chunk.get("choices") or [{}])[0]
                if choice.get("finish_reason"):
                    finish = "length" if choice["finish_reason"] == "length" else "stop"
                delta = choice.get("delta") or {}
                if delta.get("content") or delta.get("reasoning_content"):
                    yield Delta(
                        id=command.id,
                        text=delta.get("content") or "",
                        reasoning=delta.get("reasoning_content") or "",
                        tokens=timings.get("predicted_n", 0),
                        time=moment,
                    )

    def abort(self, id: str) -> None:
        self._aborted.set()

    def statistics(self) -> dict[str, Any]:
        return {}

    def close(self) -> None:
        self._server = None

"""SGLang, unmodified from its wheel, with its schedulers as this process's children.

Facts that shape this file: the constructor blocks for minutes and must run on the main thread; requests must all come
from one event loop; a scheduler that dies takes this process along (SIGKILL), which the chat's end reads as "died".
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from spark_chat.engine import chat_template, proofs, scratch, sglang_args, sglang_request, sglang_warm
from spark_chat.engine.eviction import Eviction
from spark_chat.engine.interface import EngineFailure, Report
from spark_chat.engine.prewarm import Prewarm
from spark_chat.engine.protocol import (
    AnyEvent,
    Count,
    Generate,
    Load,
    Ready,
    Started,
)
from spark_chat.engine.reasoning import ReasoningSplitter
from spark_chat.engine.sglang_answer import LOG_SAYS_MORE, Answer
from spark_chat.engine.sglang_progress import ProgressListener
from spark_chat.sglang_plugin import discovery, switches
from spark_chat.sglang_plugin.probe import KEY

CLAMPED = ("humming", "marlin")
"""Expert kernels that would drop a model's trained clamp: the plugin makes them honour it."""
COMPILE_THREADS = 8
COLD_TURNS = 8
MEMORY_FRACTION = "mem_fraction_static"
POLL_S = 0.5


class SglangEngine:
    """One checkpoint folder, loaded."""

    def __init__(self) -> None:
        self._engine: Any = None
        self._counters: Any = None
        self._context = 0
        self._limit = 0
        self._running: tuple[str, str] | None = None
        self._steps: int | None = None
        self._adaptive = False
        self._defaults: dict[str, Any] = {}
        self._live: dict[str, Any] = {}

    # ------------------------------------------------------------ load

    def load(self, command: Load, report: Report) -> Ready:
        folder = Path(command.model)
        if not (folder / "config.json").is_file():
            raise EngineFailure(
                "load", f"{folder.name or 'The model'} is no folder with a checkpoint (it has no config.json).",
                remedy="Give a checkpoint's folder with --model, or a .gguf file for llama.cpp.",
            )  # fmt: skip
        report("start", None, "Importing SGLang")
        eviction = Eviction(folder, report) if command.options.get("evict") else None
        listener = ProgressListener(eviction.report if eviction else report)
        try:
            self._prepare(command, listener.address)
            with Prewarm() as ahead:
                self._engine = self._build(command, folder, report, ahead)
        finally:
            listener.close()
            if eviction:
                eviction.close()
        from spark_chat.sglang_plugin import counters

        self._counters = counters
        infos = self._engine._scheduler_init_result.scheduler_infos[0]
        self._context = int(self._engine.tokenizer_manager.context_len)
        self._limit = min(self._context, int(infos.get("max_req_input_len") or self._context))
        seen = infos.get(KEY)
        self._defaults = sglang_request.generation_config(folder)
        draft = (seen or {}).get("draft") or {}
        self._steps, self._adaptive = draft.get("steps"), bool(draft.get("adaptive"))
        return Ready(
            engine="SGLang",
            version=sglang_request.version(),
            model=folder.name,
            context=self._context,
            proofs=proofs.proofs(seen, command.optimizations),
            facts=self._facts(seen or {}, infos)
            | {
                "resolved": sglang_request.resolved(command.args),
                "memory_fraction": sglang_request.resolved({MEMORY_FRACTION: None}).get(MEMORY_FRACTION),
            },
            cold_turns=COLD_TURNS,
            time=time.monotonic(),
        )

    def _prepare(self, command: Load, progress: str) -> None:
        """Environment first: SGLang and its plugin read it when they are imported."""
        wanted = command.optimizations
        folder = scratch.make()
        os.environ.update(
            switches.environment(
                fp8_head=wanted.get("fp8_head", False),
                shared_head=wanted.get("mtp", False) and bool(command.options.get("share_head", True)),
                expert_clamp=command.args.get("moe_runner_backend") in CLAMPED,
                split_verify=wanted.get("mtp", False),
                compile_threads=min(COMPILE_THREADS, os.cpu_count() or 1),
                progress=progress,
                shared_memory=str(folder / scratch.SHARED_MEMORY),
            )
        )
        discovery.ensure()

    def _build(self, command: Load, folder: Path, report: Report, ahead: Prewarm) -> Any:
        try:
            from sglang.srt.entrypoints.engine import Engine
        except ImportError as error:
            raise EngineFailure(
                "load", "SGLang is not installed here, or could not be imported.", str(error),
                "pip install 'spark-chat[spark]'",
            ) from error  # fmt: skip
        ahead.imported()
        given = {name: value for name, value in command.args.items() if value is not None}
        given["trust_remote_code"] = sglang_request.trusted(folder, given.get("trust_remote_code"))
        sglang_args.check(given)
        args: dict[str, Any] = {"log_level": "info", **given}
        args |= {"model_path": str(folder), "incremental_streaming_output": True}
        if command.context:
            args.setdefault("context_length", command.context)
        if args.get("speculative_algorithm"):
            args.setdefault("speculative_draft_model_path", str(folder))
        if args.get("speculative_adaptive") and "speculative_adaptive_config" not in args:
            args["speculative_adaptive_config"] = sglang_request.written(sglang_request.ADAPTIVE)
        report("start", None, "Starting SGLang's processes")
        try:
            return Engine(**args)
        except (RuntimeError, ValueError, AssertionError, OSError) as error:
            if not given["trust_remote_code"] and "trust_remote_code" in str(error) and sglang_request.revision(folder):
                raise sglang_request.untrusted(folder) from error
            raise EngineFailure(
                "load", "SGLang could not start with this model and these settings.",
                f"{type(error).__name__}: {error}", "The log's end says more.",
            ) from error  # fmt: skip

    def _facts(self, seen: Mapping[str, Any], infos: Mapping[str, Any]) -> dict[str, Any]:
        head = seen.get("head", {})
        return {
            "model_class": seen.get("model"),
            "head": head.get("dtype"),
            "memory": seen.get("memory", {}),
            "compiled": seen.get("compiled", {}),
            "startup_time": infos.get("startup_time"),
            "draft_steps": "auto" if self._adaptive else self._steps,
            "sampling_defaults": self._defaults,
            "sglang_head_fp32": head.get("fp32_output"),
        }

    async def warm(self, report: Report) -> None:
        """Before ready: the kernels of a first prompt compile here, not under the person's eyes."""
        piece = int(getattr(self._engine.server_args, "chunked_prefill_size", 0) or 0)
        await sglang_warm.warm(self._engine, self._limit, piece if piece > 0 else self._limit, report)

    # ------------------------------------------------------------ generate

    async def generate(self, command: Generate) -> AsyncIterator[AnyEvent]:
        tokenizer = self._engine.tokenizer_manager.tokenizer
        ids, opened = chat_template.prompt(tokenizer, command.messages, command.thinking, command.opening)
        if len(ids) >= self._limit:
            raise EngineFailure(
                "overflow",
                f"The conversation is {len(ids):,} tokens long and {self._limit - 1:,} fit.",
                remedy="Drop the oldest turns, or start a new conversation.",
                prompt_tokens=len(ids), context=self._limit,
            )  # fmt: skip
        room = self._limit - len(ids) - 1
        params = sglang_request.params(command.sampling, self._defaults, max(1, room))
        rid = uuid.uuid4().hex
        self._counters.watch(rid)
        self._running = (command.id, rid)
        poll = asyncio.create_task(self._poll()) if self._adaptive else None
        try:
            answer = Answer(
                command, rid, len(ids), params["max_new_tokens"], self._counters,
                ReasoningSplitter(opened, going_on=command.opening is not None), self._adaptive,
            )  # fmt: skip
            async for event in self._stream(answer, ids, params):
                yield event
        finally:
            self._running = None
            self._counters.forget(rid)
            if poll is not None:
                poll.cancel()

    async def count(self, command: Count) -> tuple[int, list[int]]:
        """Tokens of a prompt and of texts. On the loop, as `generate` has it: no tokenizer is asked by two at once."""
        tokenizer = self._engine.tokenizer_manager.tokenizer
        whole = chat_template.prompt(tokenizer, command.messages, command.thinking)[0] if command.messages else []
        return len(whole), [len(tokenizer.encode(text, add_special_tokens=False)) for text in command.texts]

    async def _stream(self, answer: Answer, ids: list[int], params: dict[str, Any]) -> AsyncIterator[AnyEvent]:
        answer.begin(time.monotonic())
        yield Started(id=answer.command.id, time=answer.asked)
        try:
            stream = await self._engine.async_generate(
                input_ids=ids, sampling_params=params, stream=True, rid=answer.rid
            )
            async for chunk in stream:
                yield answer.take(chunk, self._steps, time.monotonic())
        except ValueError as error:
            raise EngineFailure("request", "SGLang refused the request.", str(error), LOG_SAYS_MORE) from error
        yield answer.done(self._steps, time.monotonic())

    async def _poll(self) -> None:
        """The draft length in use, which adaptive steps change as they go."""
        while True:
            with contextlib.suppress(Exception):
                states = await self._engine.tokenizer_manager.get_internal_state()
                self._live = states[0].get(KEY) or {}
                self._steps = self._live.get("draft_steps") or self._steps
            await asyncio.sleep(POLL_S)

    def abort(self, id: str) -> None:
        if self._running is not None and self._running[0] == id:
            self._engine.tokenizer_manager.abort_request(rid=self._running[1])

    def statistics(self) -> dict[str, Any]:
        return {"draft_steps": self._steps, **({"live": self._live} if self._live else {})}

    def close(self) -> None:
        """Nothing to do: the worker ends its whole process group, and with it every child of SGLang's."""

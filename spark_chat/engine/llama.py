"""llama.cpp, in this process, through xllamacpp: any GGUF, with or without a GPU.

The server core has threads of its own; a request blocks the thread that makes it, so each answer gets one, and its
chunks are handed to the event loop.
"""

from __future__ import annotations

import asyncio
import errno
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from spark_chat.engine import gguf_facts, llama_log
from spark_chat.engine.gguf_facts import BadGguf, GgufFacts
from spark_chat.engine.interface import EngineFailure, Report
from spark_chat.engine.least_tokens import Bound
from spark_chat.engine.llama_answer import Answer, Piece, merged, overflow, request, thinks
from spark_chat.engine.llama_call import Call
from spark_chat.engine.llama_count import TokenCounter
from spark_chat.engine.llama_params import Plan, plan
from spark_chat.engine.llama_proofs import proofs
from spark_chat.engine.llama_steps import counters, whole_steps
from spark_chat.engine.protocol import AnyEvent, Count, FailureCode, Generate, Load, Ready, Started
from spark_chat.engine.reasoning import CLOSE, OPEN


class LlamaEngine:
    """One GGUF, loaded."""

    def __init__(self) -> None:
        self._server: Any = None
        self._plan: Plan | None = None
        self._speculative = False
        self._steps_before: list[int] = []
        self._call: Call | None = None
        self._bound = Bound(Path(), None)
        self._context = 0
        self._aborted = ""
        self._answering = False
        self._counters: dict[str, float] = {}
        self._settled = False  # a second reading after an answer said the same: nothing can have changed since
        self._opened = {True: False, False: False}  # thinking wanted -> the prompt ends inside a thought
        self._facts: dict[str, Any] = {}

    # ------------------------------------------------------------ load

    def load(self, command: Load, report: Report) -> Ready:
        report("start", 0.0, "Starting llama.cpp.")
        os.environ.setdefault("GGML_NO_BACKTRACE", "1")  # else it runs a debugger before it gives up
        try:
            import xllamacpp as native
        except ImportError as error:
            raise EngineFailure(
                "load",
                "llama.cpp is not installed for this Python.",
                str(error),
                "Install it with `pip install xllamacpp`.",
            ) from error
        name = Path(command.model).name
        model = _facts(Path(command.model))
        self._plan = plan(command, model, native)
        report("weights", None, f"Loading {name}, {model.bytes / 1e9:.1f} GB.")
        log = llama_log.Capture()
        try:
            self._server = native.Server(self._plan.params)
        except (RuntimeError, ValueError) as error:
            lines = log.until("exiting due to", "failed to initialize HTTP server")
            raise llama_log.failure(lines, name, str(error)) from error
        lines = log.until("listening on")
        implementations, active = llama_log.speculation(lines)
        self._speculative = active or bool(implementations)
        context = self._context = llama_log.context(lines) or self._plan.context
        self._bound = Bound(Path(command.model), model.metadata.get("tokenizer.ggml.model"))
        thinking = llama_log.thinking(lines)
        template = str(self._plan.params.chat_template or model.metadata.get("tokenizer.chat_template", ""))
        if not thinking and OPEN in template:
            self._opened = {wanted: self._ends_in_thought(wanted) for wanted in (True, False)}
        self._facts = {
            "architecture": model.architecture,
            "model_name": model.name,
            "parameters": model.parameters,
            "quantization": model.quantization,
            "file_bytes": model.bytes,
            "output_layer": model.output_type,
            "output_tied": model.output_tied,
            "mtp_layers": model.mtp_layers,
            "thinking": thinking,
            **self._plan.facts,
        }
        return Ready(
            engine="llama.cpp",
            version=str(native.__version__),
            model=Path(command.model).stem,
            context=context,
            proofs=proofs(command, self._plan, model, lines, log.readable),
            facts=self._facts,
            cold_turns=1,
            time=time.monotonic(),
        )

    # ------------------------------------------------------------ answer

    async def generate(self, command: Generate) -> AsyncIterator[AnyEvent]:
        if not command.messages:
            raise EngineFailure("request", "There is no prompt to answer.", remedy="Write one.")
        assert self._plan is not None
        opened, opening = self._opened[thinks(command)], command.opening
        inside = opened if opening is None else not opening.text
        answer = Answer(
            command.id, self._speculative, adaptive=self._plan.kind == "MTP", opened=inside,
            going_on=opening is not None,
        )  # fmt: skip
        least = self._bound.least(command.messages)
        if least >= self._context:
            raise overflow(least, self._context, at_least=True)
        call = self._call = Call(self._server, request(command, opened))
        yield Started(id=command.id, time=time.monotonic())
        if self._aborted == command.id:  # it was stopped before it began
            call.stop()
        else:
            call.start()
        first = self._answering = True
        self._settled = False
        try:
            while not call.over:
                pieces: list[Piece] = []
                for moment, chunk in await call.chunks():
                    piece = answer.take(chunk, moment)
                    if piece is not None and piece.counts.tokens:
                        pieces.append(piece)
                    elif piece is not None:
                        yield answer.delta([piece])  # the prompt is being read
                for group in merged(pieces, first):
                    yield answer.delta(group)
                first = first and not pieces
        finally:
            call.stop()  # an error or a closed generator must not leave it running
            await call.joined()
            self._answering = False
        if call.error is not None:
            raise call.error
        rest = answer.rest(call.ended_at)
        if rest is not None:
            yield answer.delta([rest])
        yield answer.done(call.ended_at, await self._whole_steps())

    async def count(self, command: Count) -> tuple[int, list[int]]:
        """Tokens of a prompt and of texts."""
        assert self._plan is not None
        counter = TokenCounter(str(self._server.listening_address), str(self._plan.params.api_keys[0]))
        return await asyncio.to_thread(counter.count, command)

    async def _whole_steps(self) -> list[int] | None:
        """Steps with a draft in the answer that just ended, as the server counted them; None without speculation."""
        if not self._speculative:
            return None
        now = whole_steps(await asyncio.to_thread(self._metrics))
        before, self._steps_before = self._steps_before, now
        before = before + [0] * (len(now) - len(before))
        return [late - early for late, early in zip(now, before, strict=False)]

    def _ends_in_thought(self, thinking: bool) -> bool:
        """Whether the template's prompt leaves a thought open, told from a prompt that it made."""
        seen: list[Any] = []
        body = {
            "messages": [{"role": "user", "content": "."}],
            "max_tokens": 0,
            "verbose": True,
            "response_fields": ["prompt"],
            "chat_template_kwargs": {"enable_thinking": thinking},
        }
        self._server.handle_chat_completions(body, seen.append)
        prompt = str(seen[0].get("__verbose", {}).get("prompt", "")) if seen and isinstance(seen[0], dict) else ""
        return prompt.rfind(OPEN) > prompt.rfind(CLOSE)

    def _metrics(self) -> str:
        text = self._server.handle_metrics()
        return text if isinstance(text, str) else ""

    def abort(self, id: str) -> None:
        self._aborted = id
        if self._call is not None:
            self._call.stop()

    def statistics(self) -> dict[str, Any]:
        """llama.cpp's own counters since the start, as they stood when the last answer ended.

        Each reading wakes the server and puts a line in the log, so an idle one is left alone. One reading is not
        enough: after a stop the server may still be at a step."""
        if not self._answering and not self._settled:
            before, self._counters = self._counters, counters(self._metrics())
            self._settled = self._counters == before
        return self._counters

    def close(self) -> None:
        """The process ends right after, and with it all threads."""


_WHY_NOT_READ: dict[int, tuple[FailureCode, str]] = {
    errno.EACCES: ("load", "Check the file's permissions."),
    errno.EPERM: ("load", "Check the file's permissions."),
    errno.ENOMEM: ("memory", "Close other programs, raise the limit (ulimit -v), or choose a smaller model."),
}


def _facts(path: Path) -> GgufFacts:
    if path.is_dir():
        raise EngineFailure("load", f"{path.name} is a folder; llama.cpp needs a .gguf file.", remedy="Name the file.")
    try:
        return gguf_facts.read(path)
    except FileNotFoundError as error:
        raise EngineFailure(
            "load",
            f"There is no model file {path.name}.",
            f"Looked for it at {path}.",
            "Give a .gguf file with --model PATH, or set engine.model.",
        ) from error
    except OSError as error:
        code, remedy = _WHY_NOT_READ.get(error.errno or 0, ("load", "Check the file, and the disk that it is on."))
        raise EngineFailure(code, f"{path.name} can't be read.", f"{error.strerror or error}.", remedy) from error
    except BadGguf as error:
        raise EngineFailure("load", str(error), remedy="Fetch the file again, or choose another model.") from error

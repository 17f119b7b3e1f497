"""A worker whose engine is the real llama.cpp and whose text is one of `texts.KINDS`.

Run as `python -m benchmarks.shown_worker`. Every token is really decoded; only what it says is replaced, so that the
UI draws a code fence, a table or a list of a known shape, and the prompt, so that every answer costs the engine the
same. `SHOWN_KIND` names the text, `SHOWN_TIMES` a file that gets a line of JSON an answer: tokens and seconds of
decoding, read here, at the engine, so that both sides of a comparison are measured with the same clock.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from benchmarks.texts import KINDS, TOKEN
from spark_chat.engine import table, worker
from spark_chat.engine.llama import LlamaEngine
from spark_chat.engine.protocol import AnyEvent, Delta, Done, Generate, Turn


class ShownEngine(LlamaEngine):
    """llama.cpp with other words."""

    async def generate(self, command: Generate) -> AsyncIterator[AnyEvent]:
        text, shown = KINDS[os.environ["SHOWN_KIND"]], 0
        command = msgspec.structs.replace(
            command,
            messages=[Turn(role="user", content="Tell me a long story.")],
            sampling=msgspec.structs.replace(command.sampling, ignore_eos=True, temperature=0),
        )
        first: Delta | None = None
        async for event in super().generate(command):
            if isinstance(event, Delta):
                first = first or (event if event.tokens else None)
                until = event.tokens * TOKEN
                yield msgspec.structs.replace(event, text=text[shown:until], reasoning="")
                shown = until
            else:
                if isinstance(event, Done) and first is not None:
                    self._note(event, first)
                yield event

    @staticmethod
    def _note(done: Done, first: Delta) -> None:
        line = {"tokens": done.usage.completion_tokens - first.tokens, "seconds": done.time - first.time}
        with Path(os.environ["SHOWN_TIMES"]).open("a") as file:
            file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    table.ENGINES["llama.cpp"] = "benchmarks.shown_worker:ShownEngine"
    worker.main()

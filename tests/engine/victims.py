"""Chats to kill, quick to make: reads a line a chat on stdin, forks a process that starts an engine and has it answer,
and writes that process's id. What happens in the chat comes as lines of `PID KIND`."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys

from spark_chat.engine.client import EngineClient
from spark_chat.engine.protocol import AnyEvent, Generate, Ready, Sampling, Turn
from spark_chat.recipe.recipe import ModelRef, Recipe


async def chat(linger_s: int) -> None:
    client = EngineClient("tests.engine.fake_worker")

    def take(event: AnyEvent) -> None:
        os.write(1, f"{os.getpid()} {type(event).__name__}\n".encode())
        if isinstance(event, Ready):
            client.send(Generate(id="a", messages=[Turn("user", "wait")], sampling=Sampling(max_tokens=3)))

    recipe = Recipe(
        engine="fake", model=ModelRef("m", "m"), context=0, requested={}, args={"child": True}, linger_s=linger_s
    )
    await client.start(recipe, take)
    await asyncio.Event().wait()


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            asyncio.run(chat(**json.loads(line)))
            os._exit(0)
        os.write(1, f"{child} Begun\n".encode())


if __name__ == "__main__":
    main()

"""A UI to kill: starts a worker, tells on stdout what comes, and waits. `python -m tests.engine.parent MODULE JSON`."""

from __future__ import annotations

import asyncio
import json
import sys

from spark_chat.engine.client import EngineClient
from spark_chat.engine.protocol import AnyEvent, Delta, Generate, Progress, Ready, Sampling, Turn
from spark_chat.recipe.recipe import ModelRef, Recipe


async def main(module: str, given: dict[str, object]) -> None:
    client = EngineClient(module)

    def take(event: AnyEvent) -> None:
        if isinstance(event, Ready):
            sampling = Sampling(temperature=0, max_tokens=5000, ignore_eos=True)
            if given.get("ask"):
                client.send(Generate(id="a", messages=[Turn("user", str(given["ask"]))], sampling=sampling))
        kind = type(event).__name__
        if not isinstance(event, Delta) or event.tokens == 8:
            print(kind, event.text if isinstance(event, Progress) else "", flush=True)

    recipe = Recipe(
        engine=str(given["engine"]), model=ModelRef("m", str(given["model"])), context=0,
        requested={"mtp": False}, args=dict(given["args"]),  # type: ignore[call-overload]
    )  # fmt: skip
    await client.start(recipe, take)
    print("pid", client.pid, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))

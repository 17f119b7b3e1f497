"""The real chat over `shown_worker`: `python -m benchmarks.shown_chat MODEL MAX_TOKENS`, on a terminal."""

from __future__ import annotations

import sys

from spark_chat.driver.driver import Driver
from spark_chat.engine.client import EngineClient
from spark_chat.settings.resolve import resolve
from spark_chat.tui.app import SparkApp
from spark_chat.tui.tty_driver import TtyDriver

SETTINGS = ("sampling.temperature=0", "optimizations.mtp=off", "engine.args.n_batch=512")


def client() -> EngineClient:
    return EngineClient("benchmarks.shown_worker")


def main() -> None:
    model, tokens = sys.argv[1:]
    resolved = resolve([f"engine.model={model}", f"sampling.max_tokens={tokens}", *SETTINGS])
    SparkApp(resolved, engine=lambda listener: Driver(listener, client_factory=client), terminal=TtyDriver).run()


if __name__ == "__main__":
    main()

"""The engines there are: kind -> where its class lives. Imported by name, so that the UI never loads one."""

from __future__ import annotations

from importlib import import_module

from spark_chat.engine.interface import Engine

ENGINES: dict[str, str] = {
    "llama.cpp": "spark_chat.engine.llama:LlamaEngine",
    "sglang": "spark_chat.engine.sglang:SglangEngine",
}


def make(kind: str) -> Engine:
    """A fresh engine of `kind`. Raises KeyError for a kind that is not in the table."""
    module, _, name = ENGINES[kind].partition(":")
    engine: Engine = getattr(import_module(module), name)()
    return engine

"""Triton compiles the candidates of a kernel's tuning together instead of one after the other.

Why: on empty caches the first start spends minutes in it: Triton 3.8's autotuner compiles each candidate only when
its turn to be timed comes, on one core (the linear attention's kernels have 6 to 36 candidates of 1 to 11 s each).
How: before the first candidate is timed, all are compiled in threads by Triton's own AsyncCompileMode; the timing then
finds them compiled, and is not touched. A failure here leaves everything to Triton, as if this were not there.
For: SGLang 0.5.23, Triton 3.8. Can go: once Triton's autotuner does so itself.
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from spark_chat.sglang_plugin import hooks, switches

TARGET = "triton.runtime.autotuner.Autotuner._bench"
DONE = "_spark_chat_compiled"

_log = logging.getLogger("spark_chat.sglang_plugin")


def register() -> None:
    """Only the scheduler runs kernels: hooked when the first model is made."""
    if switches.compile_threads() > 1:
        hooks.add("parallel compile: late", "sglang.srt.model_loader.loader._initialize_model", "before", _late)


def _late(*_args: Any, **_kwargs: Any) -> None:
    hooks.add("parallel compile", TARGET, "around", _bench)
    hooks.apply()


def _bench(original: Any, tuner: Any, *args: Any, config: Any, **meta: Any) -> Any:
    tuning = id(tuner.nargs)  # the dictionary is made anew for every tuning; it holds tensors, so it is not kept
    if getattr(tuner, DONE, None) != tuning:
        setattr(tuner, DONE, tuning)
        try:
            compile_together(tuner, args, meta)
        except Exception as error:
            _log.warning("Candidates are compiled one by one: %s: %s", type(error).__name__, error)
    return original(tuner, *args, config=config, **meta)


def compile_together(tuner: Any, args: tuple[Any, ...], meta: dict[str, Any]) -> None:
    """All candidates of one tuning. One that can't be compiled says so when its turn comes."""
    from triton import AsyncCompileMode

    with (
        ThreadPoolExecutor(switches.compile_threads()) as pool,
        AsyncCompileMode(pool, ignore_errors=True),
    ):
        for candidate in tuner.prune_configs(meta):
            tuner.fn.run(*args, **{**meta, **candidate.all_kwargs(), "warmup": True})

"""Which kernels were compiled in which stage of the start, counted in the scheduler.

Why: compilers and the reading of weights must never share the memory (a GB10 that runs out of it wedges). `prepare`
compiles ahead; what is counted here shows that nothing was left for the stages that hold weights, or what was.
How: Triton tells a listener of each compilation; FlashInfer and Humming are counted at the call that runs a compiler.
For: SGLang 0.5.23 (Triton 3.8, FlashInfer 0.7.2, Humming 0.1.12). Can go: never as a whole; it is a proof.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from spark_chat.sglang_plugin import hooks, progress, switches

COMPILERS = {
    "flashinfer": ("flashinfer.jit.core", "JitSpecNvcc.build"),
    "humming": ("humming.jit.compiler", "NVRTCCompiler._compile"),
    "humming by nvcc": ("humming.jit.compiler", "NVCCCompiler._compile"),
}
NAMED = 8
"""Kernels of a stage that are named."""

_stages: dict[str, dict[str, Any]] = {}
_listening = False


def register() -> None:
    if switches.progress():
        for method in progress.STAGES:
            hooks.add(f"compiled: {method}", progress.SCHEDULER + method, "before", _watch)


def _watch(*_args: Any, **_kwargs: Any) -> None:
    """At each stage, for what was imported by then: these modules are too heavy to import for this alone."""
    _listen()
    for maker, (module, attribute) in COMPILERS.items():
        if module in sys.modules:
            hooks.add(f"compiled: {maker}", f"{module}.{attribute}", "around", _counter(maker))
    hooks.apply()


def _listen() -> None:
    global _listening
    if _listening or "triton" not in sys.modules:
        return
    from triton import knobs

    before = knobs.compilation.listener

    def heard(*, src: Any, times: Any, cache_hit: bool, **more: Any) -> None:
        if before is not None:
            before(src=src, times=times, cache_hit=cache_hit, **more)
        if not cache_hit:
            add(f"triton: {getattr(src, 'name', '')}", times.total / 1e6)

    knobs.compilation.listener = heard
    _listening = True


def _counter(maker: str) -> Any:
    def counted(original: Any, *args: Any, **kwargs: Any) -> Any:
        begun = time.monotonic()
        try:
            return original(*args, **kwargs)
        finally:
            add(f"{maker}: {getattr(args[0], 'name', '')}" if args else maker, time.monotonic() - begun)

    return counted


def add(name: str, seconds: float) -> None:
    """One compilation, in the stage that is under way."""
    stage = _stages.setdefault(progress.current(), {"count": 0, "seconds": 0.0, "names": []})
    stage["count"] += 1
    stage["seconds"] = round(stage["seconds"] + seconds, 3)
    if len(stage["names"]) < NAMED:
        stage["names"].append(name[:120])


def report() -> dict[str, dict[str, Any]]:
    """Stage -> how many kernels were compiled in it, seconds that they took together, and the first names."""
    return {stage: dict(found) for stage, found in _stages.items()}

"""What spark-chat adds to an unmodified SGLang, through its plugin entry point (group `sglang.srt.plugins`).

`register()` runs in every process of an engine, before anything is loaded. It only names hooks: what they need is
imported inside their bodies. Each patch is alone in its file, which says why it exists, for which SGLang version,
and when it can go. With nothing switched on (`switches.py`) no hook is registered at all.
"""

from __future__ import annotations


def register() -> None:
    """Called by SGLang without arguments. A version that was not tested gets no patch, and says so loudly."""
    from spark_chat.sglang_plugin import (
        compiled,
        counters,
        fp8_head,
        humming_clamp,
        marlin_clamp,
        parallel_compile,
        probe,
        progress,
        shared_head,
        shared_memory,
        split_verify,
        switches,
        version,
    )

    if not switches.any_on():
        return
    refusal = version.refusal()
    if refusal is None:
        changes = (fp8_head, shared_head, humming_clamp, marlin_clamp, split_verify)
        for patch in (*changes, parallel_compile, counters, progress, compiled, shared_memory):
            patch.register()
    probe.register()

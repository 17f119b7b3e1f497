"""The environment variables that switch the plugin. Off means off: a hook that is not asked for is not registered.

| variable | values | what it does | unset |
|---|---|---|---|
| SGLANG_ENABLE_FP8_LM_HEAD | 1, 0 | quantises the output layer to FP8 at load and lets the draft share it | 0 |
| SPARK_CHAT_SHARED_HEAD | 1, 0 | the draft takes the target's whole head module | as the one above |
| SPARK_CHAT_EXPERT_CLAMP | 1, 0 | Humming and Marlin experts honour the model's trained SwiGLU clamp | as the first |
| SPARK_CHAT_SPLIT_VERIFY | 1, 0 | Triton attention checks drafts of an MLA model with the prefix split | as the first |
| SPARK_CHAT_PROBE | 1, 0 | the scheduler reports what is active, in its init info and /server_info | as the first |
| SPARK_CHAT_COUNTERS | 1, 0 | verify steps and accepted drafts of every streamed chunk are kept (worker process) | 0 |
| SPARK_CHAT_COMPILE_THREADS | a number | Triton compiles the candidates of a kernel's tuning that many at a time | 0 |
| SPARK_CHAT_PROGRESS | a path, or @name | unix datagram socket that the stages of a start are sent to | off |
| SPARK_CHAT_SHARED_MEMORY | a path | file that the names of shared memory are noted in | off |

The app's worker sets every one of them itself, whatever the shell held. Whoever starts SGLang by hand needs the
first one only: `SGLANG_ENABLE_FP8_LM_HEAD=1 python -m sglang.launch_server ...`.
"""

from __future__ import annotations

import os

FP8_HEAD = "SGLANG_ENABLE_FP8_LM_HEAD"
SHARED_HEAD = "SPARK_CHAT_SHARED_HEAD"
EXPERT_CLAMP = "SPARK_CHAT_EXPERT_CLAMP"
SPLIT_VERIFY = "SPARK_CHAT_SPLIT_VERIFY"
PROBE = "SPARK_CHAT_PROBE"
COUNTERS = "SPARK_CHAT_COUNTERS"
COMPILE_THREADS = "SPARK_CHAT_COMPILE_THREADS"
PROGRESS = "SPARK_CHAT_PROGRESS"
SHARED_MEMORY = "SPARK_CHAT_SHARED_MEMORY"

_TRUE = {"1", "true", "on", "yes"}


def _on(name: str, default: bool) -> bool:
    value = os.environ.get(name)
    return default if value is None or value == "" else value.strip().lower() in _TRUE


def fp8_head() -> bool:
    return _on(FP8_HEAD, False)


def shared_head() -> bool:
    return _on(SHARED_HEAD, fp8_head())


def expert_clamp() -> bool:
    return _on(EXPERT_CLAMP, fp8_head())


def split_verify() -> bool:
    return _on(SPLIT_VERIFY, fp8_head())


def probe() -> bool:
    return _on(PROBE, fp8_head())


def counters() -> bool:
    return _on(COUNTERS, False)


def compile_threads() -> int:
    """0 and 1: as Triton does by itself."""
    value = os.environ.get(COMPILE_THREADS, "")
    return int(value) if value.isdigit() else 0


def progress() -> str:
    """Address of the socket, or "" for none."""
    return os.environ.get(PROGRESS, "")


def shared_memory() -> str:
    """Path of the file, or "" for none."""
    return os.environ.get(SHARED_MEMORY, "")


def any_on() -> bool:
    flags = (fp8_head(), shared_head(), expert_clamp(), split_verify(), probe(), counters())
    return any(flags) or compile_threads() > 1 or bool(progress() or shared_memory())


def environment(
    *,
    fp8_head: bool,
    shared_head: bool,
    expert_clamp: bool,
    split_verify: bool,
    compile_threads: int = 0,
    progress: str = "",
    shared_memory: str = "",
    proofs: bool = True,
) -> dict[str, str]:
    """All switches, set: what the app's worker exports before SGLang is imported."""
    flag = {True: "1", False: "0"}
    return {
        FP8_HEAD: flag[fp8_head],
        SHARED_HEAD: flag[shared_head],
        EXPERT_CLAMP: flag[expert_clamp],
        SPLIT_VERIFY: flag[split_verify],
        PROBE: flag[proofs],
        COUNTERS: flag[proofs],
        COMPILE_THREADS: str(compile_threads),
        PROGRESS: progress,
        SHARED_MEMORY: shared_memory,
    }

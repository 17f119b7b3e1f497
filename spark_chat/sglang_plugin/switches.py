"""The environment variables that switch the plugin. Off means off: a hook that is not asked for is not registered.

| variable | values | what it does | unset |
|---|---|---|---|
| SGLANG_ENABLE_FP8_LM_HEAD | 1, 0 | quantises the output layer to FP8 at load and lets the draft share it | 0 |
| SPARK_CHAT_SHARED_HEAD | 1, 0 | the draft takes the target's whole head module | as the one above |
| SPARK_CHAT_HUMMING_CLAMP | 1, 0 | Humming experts honour the model's trained SwiGLU clamp | as the first |
| SPARK_CHAT_PROBE | 1, 0 | the scheduler reports what is active, in its init info and /server_info | as the first |
| SPARK_CHAT_COUNTERS | 1, 0 | verify steps and accepted drafts of every streamed chunk are kept (worker process) | 0 |
| SPARK_CHAT_PROGRESS | a path | unix datagram socket that the stages of a start are sent to | off |

The app's worker sets every one of them itself, whatever the shell held. Whoever starts SGLang by hand needs the
first one only: `SGLANG_ENABLE_FP8_LM_HEAD=1 python -m sglang.launch_server ...`.
"""

from __future__ import annotations

import os

FP8_HEAD = "SGLANG_ENABLE_FP8_LM_HEAD"
SHARED_HEAD = "SPARK_CHAT_SHARED_HEAD"
HUMMING_CLAMP = "SPARK_CHAT_HUMMING_CLAMP"
PROBE = "SPARK_CHAT_PROBE"
COUNTERS = "SPARK_CHAT_COUNTERS"
PROGRESS = "SPARK_CHAT_PROGRESS"

_TRUE = {"1", "true", "on", "yes"}


def _on(name: str, default: bool) -> bool:
    value = os.environ.get(name)
    return default if value is None or value == "" else value.strip().lower() in _TRUE


def fp8_head() -> bool:
    return _on(FP8_HEAD, False)


def shared_head() -> bool:
    return _on(SHARED_HEAD, fp8_head())


def humming_clamp() -> bool:
    return _on(HUMMING_CLAMP, fp8_head())


def probe() -> bool:
    return _on(PROBE, fp8_head())


def counters() -> bool:
    return _on(COUNTERS, False)


def progress() -> str:
    """Path of the socket, or "" for none."""
    return os.environ.get(PROGRESS, "")


def any_on() -> bool:
    return fp8_head() or shared_head() or humming_clamp() or probe() or counters() or bool(progress())


def environment(
    *, fp8_head: bool, shared_head: bool, humming_clamp: bool, progress: str = "", proofs: bool = True
) -> dict[str, str]:
    """All switches, set: what the app's worker exports before SGLang is imported."""
    flag = {True: "1", False: "0"}
    return {
        FP8_HEAD: flag[fp8_head],
        SHARED_HEAD: flag[shared_head],
        HUMMING_CLAMP: flag[humming_clamp],
        PROBE: flag[proofs],
        COUNTERS: flag[proofs],
        PROGRESS: progress,
    }

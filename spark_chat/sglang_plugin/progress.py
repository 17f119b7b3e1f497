"""The stages of a start, told as they happen to a unix datagram socket whose address is in the environment.

Why: building an engine blocks for minutes, and SGLang 0.5.23 says nothing of it but lines on a log.
A datagram is JSON: {"stage", "fraction" (0..1 or null), "text"}. Nobody listening is no error.
For: SGLang 0.5.23. Can go: once SGLang reports the progress of a start.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spark_chat.sglang_plugin import hooks, switches

SCHEDULER = "sglang.srt.managers.scheduler.Scheduler."
STAGES = {
    "init_tp_model_worker": ("weights", "Reading the weights"),
    "maybe_init_draft_worker": ("draft", "Loading the draft"),
    "init_memory_pools": ("caches", "Setting up the caches"),
    "init_all_attention_backends": ("attention", "Preparing attention"),
    "init_all_cuda_graphs": ("graphs", "Capturing CUDA graphs; kernels that are new here compile first"),
}
SHARDS = "sglang.srt.model_loader.weight_utils.buffered_multi_thread_safetensors_weights_iterator"
INTERVAL_S = 0.2

_stage = "start"


def current() -> str:
    """The stage that this process is in."""
    return _stage


def register() -> None:
    if not switches.progress():
        return
    for method, (stage, text) in STAGES.items():
        hooks.add(f"progress: {stage}", SCHEDULER + method, "before", _teller(stage, text))
    hooks.add("progress: shards", SHARDS, "around", _shards)


def _teller(stage: str, text: str) -> Any:
    def tell_stage(*_args: Any, **_kwargs: Any) -> None:
        global _stage
        _stage = stage
        tell(stage, None, text)

    return tell_stage


def tell(stage: str, fraction: float | None, text: str) -> None:
    """Send one datagram; dropped where nobody listens."""
    address = switches.progress()
    if not address:
        return
    message = json.dumps({"stage": stage, "fraction": fraction, "text": text}).encode()
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            sender.sendto(message, _written(address))
    except OSError:
        pass


def _written(address: str) -> str:
    """An address that begins with @ lies in no folder: the kernel writes a zero byte there."""
    return "\0" + address[1:] if address.startswith("@") else address


def _shards(original: Any, files: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
    """Counts the bytes of the tensors that go by against the size of the files."""
    total = sum(Path(file).stat().st_size for file in files) or 1
    done, told = 0, 0.0
    for name, tensor in original(files, *args, **kwargs):
        yield name, tensor
        done += tensor.numel() * tensor.element_size()
        now = time.monotonic()
        if now - told >= INTERVAL_S:
            told = now
            tell("weights", min(1.0, done / total), f"{_size(done)} of {_size(total)} read")
    tell("weights", 1.0, f"{_size(total)} read; laying them out for the kernels")


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"

"""Interpreters that import SGLang while this process does, for the children that it starts next.

Why: SGLang starts its scheduler and detokenizer as fresh interpreters, and each imports all of it again, after this
process has: half of the time before any weight is read. How: interpreters are started at once and import ahead;
when `multiprocessing` is about to start one of its own, a waiting one is given the descriptors, the environment and
the command instead. It is a child of this process as the other would be, nothing is forked, and where anything is not
as it should be the ordinary way is taken.
Only with SPARK_CHAT_IMPORT_AHEAD=1: it was seen on a CPU alone, and what has not been seen beside a GPU is not turned
on there by itself.
For: SGLang 0.5.23, multiprocessing of Python 3.11 to 3.13. Can go: once SGLang starts its processes first.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import util
from pathlib import Path
from typing import Any

SWITCH = "SPARK_CHAT_IMPORT_AHEAD"
MODULES = ("sglang.srt.managers.scheduler", "sglang.srt.managers.detokenizer_manager")
"""What each imports ahead, in the order in which they are asked for."""
COMMAND = re.compile(
    r"from multiprocessing\.spawn import spawn_main; spawn_main\(tracker_fd=(\d+), pipe_handle=(\d+)\)"
)
MOST_DESCRIPTORS = 64
HARMLESS = re.compile(
    r"CUDA_DEVICE_MAX_CONNECTIONS$|CUDA_MODULE_LOADING$|NCCL_|TRTLLM_ENABLE_PDL$|CUTE_DSL_LOG_|SGLANG_RUN_ID$"
)
"""Variables that may have changed since: they are read where they are used, or decide what is logged."""
OFF_BY_DEFAULT = re.compile(
    r"SGLANG_(ENABLE_TORCH_COMPILE|DISABLE_OUTLINES_DISK_CACHE|ENABLE_DETERMINISTIC_INFERENCE|USE_CUDA_IPC_TRANSPORT)$"
)
"""Variables that SGLang writes at each start; written off they say what they say unwritten."""


class Prewarm:
    """Starts them at once. `close` ends those that were not used and puts everything back."""

    def __init__(self, modules: Sequence[str] = MODULES) -> None:
        self._environment = dict(os.environ)
        self.used = 0
        self._waiting: list[tuple[subprocess.Popen[bytes], socket.socket]] = []
        self._original = util.spawnv_passfds
        for module in modules if os.environ.get(SWITCH) == "1" else ():
            self._start(module)
        if self._waiting:
            vars(util)["spawnv_passfds"] = self._spawn

    @property
    def pids(self) -> list[int]:
        """Of those that wait."""
        return [process.pid for process, _ in self._waiting]

    def imported(self) -> None:
        """SGLang is imported here too: what that set in the environment it has set in theirs."""
        self._environment = dict(os.environ)

    def _start(self, module: str) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            try:
                process = subprocess.Popen(
                    [sys.executable, "-P", "-m", "spark_chat.engine.prewarmed", str(theirs.fileno()), module],
                    pass_fds=[theirs.fileno()],
                )
            except OSError:
                ours.close()
                return
        self._waiting.append((process, ours))

    def _spawn(self, path: Any, arguments: Sequence[Any], descriptors: Sequence[int]) -> int:
        """Stands in for multiprocessing.util.spawnv_passfds."""
        found = next((match for word in arguments if isinstance(word, str) and (match := COMMAND.search(word))), None)
        if os.fsdecode(path) != sys.executable:
            found = None  # a wrapper was set, and means something
        stale = self.stale(os.environ) if found is not None and self._waiting else []
        if stale:
            print(
                f"What was imported ahead is not used: {', '.join(stale)} changed since.", file=sys.stderr, flush=True
            )
        elif found is not None and self._waiting:
            process, channel = self._waiting.pop(0)
            with channel:
                if self._hand_over(channel, sorted(set(descriptors)), int(found[1]), int(found[2])):
                    self.used += 1
                    process.returncode = 0  # multiprocessing waits for it from here on
                    return process.pid
            process.kill()
            process.wait()
        return int(self._original(path, arguments, descriptors))

    def _hand_over(self, channel: socket.socket, descriptors: list[int], tracker: int, pipe: int) -> bool:
        order = {
            "descriptors": descriptors, "tracker_fd": tracker, "pipe_handle": pipe, "directory": str(Path.cwd()),
            "environment": dict(os.environ),
        }  # fmt: skip
        if len(descriptors) > MOST_DESCRIPTORS:
            return False
        try:
            frame = json.dumps(order).encode("utf-8", "surrogateescape")
            return socket.send_fds(channel, [frame], descriptors) == len(frame)
        except (OSError, ValueError):
            return False

    def stale(self, environment: Mapping[str, str]) -> list[str]:
        """Variables that changed since SGLang was imported, and that its import may have read."""
        names = {*environment, *self._environment}
        return sorted(
            name for name in names
            if environment.get(name) != self._environment.get(name) and not HARMLESS.match(name)
            and not (OFF_BY_DEFAULT.match(name) and environment.get(name, "").lower() in ("", "0", "false"))
        )  # fmt: skip

    def __enter__(self) -> Prewarm:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        vars(util)["spawnv_passfds"] = self._original
        for process, channel in self._waiting:
            channel.close()
            process.kill()
            process.wait()
        self._waiting.clear()

"""A worker whose engine does what `args` say, run as `python -m tests.engine.fake_worker`."""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from spark_chat.engine import guest, guests, table, worker
from spark_chat.engine.interface import EngineFailure, Report
from spark_chat.engine.protocol import AnyEvent, Delta, Done, Generate, Load, Ready, Started, Usage


def _witness() -> None:
    """Note in a file where a second engine is up while this one is, by a lock of the test's own that its children hold
    too."""
    path = os.environ.get("SPARK_CHAT_TEST_WITNESS")
    if path is not None:
        file = os.open(path, os.O_RDWR | os.O_CREAT)
        os.set_inheritable(file, True)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.write(file, b"two engines at once\n")


class FakeEngine:
    def __init__(self) -> None:
        self._aborted = asyncio.Event()
        self._args: dict[str, Any] = {}

    def load(self, command: Load, report: Report) -> Ready:
        self._args = command.args
        libc = ctypes.CDLL(None)
        _witness()
        if command.args.get("child"):
            child = subprocess.Popen(["sleep", "600"], close_fds=False)
            report("child", None, str(child.pid))
        report("start", 0.5, "starting")
        what = command.args.get("load", "")
        if what == "block":  # as native code does that lets other threads run
            libc.sleep(600)
        elif what == "hold":  # as native code does that does not
            ctypes.PyDLL(None).sleep(600)
        elif what == "fail":
            raise EngineFailure("memory", "No room.", "It is full.", "Make room.", free=1)
        elif what == "defect":
            raise ZeroDivisionError("one over nothing")
        elif what == "crash":
            sys.stderr.write("GGML_ASSERT(n > 0) failed\n")
            sys.stderr.flush()
            os.abort()
        elif what == "print":
            libc.puts(b"from C on stdout")
            libc.fflush(None)
            os.write(2, b"from C on \x1b[31mstderr\x1b[0m\n")
            print("from Python", flush=True)
        elif what == "routine":
            os.write(2, b"0.12.721.869 I srv  update_slots: all slots are idle\n")
        elif what == "chatter":
            for _ in range(20_000):
                os.write(1, b"x" * 999 + b"\n")
        facts = {
            "group": os.getpgrp(),
            "pid": os.getpid(),
            "cwd": str(Path.cwd()),
            "variable": os.environ.get("FAKE", ""),
        }
        return Ready(engine="fake", version="1", model="m", context=100, proofs={}, facts=facts, time=time.monotonic())

    async def generate(self, command: Generate) -> AsyncIterator[AnyEvent]:
        self._aborted.clear()
        yield Started(id=command.id, time=time.monotonic())
        text = command.messages[0].content
        if text == "fail":
            raise EngineFailure("overflow", "Too long.", prompt_tokens=9, context=8)
        if text == "defect":
            raise ZeroDivisionError("one over nothing")
        for count in range(1, command.sampling.max_tokens + 1):
            yield Delta(id=command.id, text=text, tokens=count, time=time.monotonic())
        finish = "stop"
        if text == "wait":
            await self._aborted.wait()
            finish = "abort"
        usage = Usage(prompt_tokens=1, cached_tokens=0, completion_tokens=command.sampling.max_tokens)
        yield Done(id=command.id, finish=finish, usage=usage, time=time.monotonic())  # type: ignore[arg-type]

    def abort(self, id: str) -> None:
        self._aborted.set()

    def statistics(self) -> dict[str, Any]:
        return {"ran": True}

    def close(self) -> None:
        if self._args.get("close") == "hang":
            ctypes.CDLL(None).sleep(600)


if __name__ == "__main__":
    if os.environ.get("SPARK_CHAT_TEST_NO_PRCTL"):
        worker.die_with_parent = lambda parent: None
    if protocol := os.environ.get("SPARK_CHAT_TEST_PROTOCOL"):
        guests.PROTOCOL = int(protocol)
    guest.HANDSHAKE_S = float(os.environ.get("SPARK_CHAT_TEST_HANDSHAKE_S", guest.HANDSHAKE_S))
    table.ENGINES["fake"] = "tests.engine.fake_worker:FakeEngine"
    worker.main()

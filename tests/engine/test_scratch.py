"""An engine's temporary files go with it, also where everything of it is killed at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from spark_chat.engine import scratch

CHILD = "import sys, tempfile; tempfile.mkdtemp(); print(1, flush=True); sys.stdin.read()"
PROGRAM = f"""
import os, subprocess, sys, tempfile
from spark_chat.engine import scratch
folder = scratch.make()
tempfile.NamedTemporaryFile(delete=False)
pipe, held = os.pipe()
child = subprocess.Popen(
    [sys.executable, "-c", {CHILD!r}], stdin=pipe, stdout=subprocess.PIPE, pass_fds=[held]
)
child.stdout.readline()
print(folder, child.pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("how", ["group", "process", "children first", "end"])
def test_nothing_is_left_however_it_ends(tmp_path: Path, how: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:  # fmt: skip
        assert process.stdout is not None and process.stdin is not None
        folder, child = process.stdout.readline().decode().split()
        assert len(list(Path(folder).iterdir())) == 2
        shared = Path("/dev/shm") / f"spark-chat-test-{process.pid}"
        shared.write_bytes(b"x")
        (Path(folder) / scratch.SHARED_MEMORY).write_text(f"gone already\n{shared.name}\n")
        if how == "group":
            os.killpg(process.pid, signal.SIGKILL)
        elif how == "process":
            process.kill()
        elif how == "children first":
            import psutil

            for one in psutil.Process(process.pid).children(recursive=True):
                one.kill()
            process.kill()
        process.stdin.close()
    deadline = time.monotonic() + 20
    while Path(folder).exists() or shared.exists() or Path(f"/proc/{child}").exists():
        assert time.monotonic() < deadline, "it was left"
        os.sched_yield()

"""`spark-chat` as a process of its own, for the tests that look at exit codes, streams and signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.processes import end_with_us

ROOT = Path(__file__).parents[2]
PATIENCE_S = 300


def spawn(
    *arguments: str, module: str = "spark_chat", path: Sequence[Path] = (), **options: Any
) -> subprocess.Popen[bytes]:
    """Running, with pipes at all three ends. `module`: what stands in for it; `path`: where else it finds modules."""
    found = os.pathsep.join(map(str, [ROOT, *path]))
    environment = {**os.environ, "PYTHONPATH": found, "PYTHONUNBUFFERED": "1"}
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.Popen(command, env=environment, cwd="/", preexec_fn=end_with_us, **streams)


class Finished:
    """Exit code, stdout and stderr."""

    def __init__(self, process: subprocess.Popen[bytes], stdin: bytes = b"") -> None:
        try:
            out, err = process.communicate(stdin, timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        self.code, self.out, self.err = process.returncode, out.decode(), err.decode()

    @property
    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found


def run(*arguments: str, stdin: bytes = b"") -> Finished:
    """To its end."""
    return Finished(spawn(*arguments), stdin)


def signalled_at(process: subprocess.Popen[bytes], said: str, number: signal.Signals) -> Finished:
    """Send `number` once a line of its stderr holds `said`."""
    assert process.stderr is not None
    seen = b""
    for line in process.stderr:
        seen += line
        if said.encode() in line:
            process.send_signal(number)
            break
    finished = Finished(process)
    finished.err = seen.decode() + finished.err
    return finished

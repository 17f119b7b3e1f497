"""Runs jobs of chat_run in processes of their own, each held to a limit; what they wrote by then is kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.processes import end_with_us

_running: dict[str, subprocess.Popen[bytes]] = {}
_lock = threading.Lock()


def environment(home: Path, extra: dict[str, str]) -> dict[str, str]:
    """A home of its own, but the compiled kernels of all runs together."""
    for name in ("config", "data", "state", "runtime"):
        (home / name).mkdir(parents=True, exist_ok=True, mode=0o700)  # or the runtime folder is not taken
    found = {f"XDG_{name.upper()}_HOME": str(home / name) for name in ("config", "data", "state")}
    return {**os.environ, **found, "XDG_RUNTIME_DIR": str(home / "runtime"), "PYTHONUNBUFFERED": "1", **extra}


def run(job: dict[str, Any], folder: Path, limit_s: float) -> dict[str, Any]:
    """The job's result as far as it came, with "error" and "log_end" where it did not come to its end."""
    name = job["name"]
    folder.mkdir(parents=True, exist_ok=True)
    given, result, log = (folder / f"{name}{end}" for end in (".job.json", ".json", ".log"))
    given.write_text(json.dumps(job))
    result.unlink(missing_ok=True)
    home, began = folder / f"{name}.home", time.monotonic()
    command = [sys.executable, "-m", "tests.gpu.chat_run", str(given), str(result)]
    code = held(name, command, log, environment(home, job.get("environment", {})), limit_s)
    print(f"{name}: {'ended' if code is None else f'exit {code}'} after {time.monotonic() - began:.0f} s", flush=True)
    found: dict[str, Any] = json.loads(result.read_text()) if result.exists() else {"name": name}
    if code != 0:
        found["error"] = f"{'ended at its limit' if code is None else f'exit code {code}'}, "
        found["error"] += f"{len(found.get('runs', []))} of {len(job['asks'])} answers"
        found["log_end"] = [*tail(log, 10), *worker_log(home)]
    return found


def held(name: str, command: list[str], log: Path, variables: dict[str, str], limit_s: float) -> int | None:
    """Exit code of the command; None where it was ended, at its limit or by `end`."""
    with log.open("w") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env=variables, start_new_session=True, preexec_fn=end_with_us
        )
        with _lock:
            _running[name] = process
        try:
            return process.wait(max(1.0, limit_s))
        except subprocess.TimeoutExpired:
            end(name)
            return None
        finally:
            process.wait()
            with _lock:
                _running.pop(name, None)


def end(name: str) -> None:
    """End a job now: its whole group, the worker in a group of its own dies with its parent."""
    with _lock:
        process = _running.get(name)
    if process is not None and process.poll() is None:
        os.killpg(process.pid, 9)


def end_others(name: str) -> None:
    """End every job but this one: what is timed runs alone."""
    with _lock:
        others = [other for other in _running if other != name]
    for other in others:
        end(other)


def tail(path: Path, lines: int) -> list[str]:
    try:
        return path.read_text(errors="replace").splitlines()[-lines:]
    except OSError:
        return []


def worker_log(home: Path, lines: int = 40) -> list[str]:
    """The end of the newest engine log below a run's home."""
    logs = sorted(home.glob("state/**/*.log"), key=lambda path: path.stat().st_mtime)
    return tail(logs[-1], lines) if logs else []

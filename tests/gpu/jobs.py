"""Runs jobs of chat_run in processes of their own, several at a time, each held to a limit; what ends is kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any


def environment(home: Path, extra: dict[str, str]) -> dict[str, str]:
    """A home of its own, but the compiled kernels of all runs together."""
    for name in ("config", "data", "state", "runtime"):
        (home / name).mkdir(parents=True, exist_ok=True)
    found = {f"XDG_{name.upper()}_HOME": str(home / name) for name in ("config", "data", "state")}
    return {**os.environ, **found, "XDG_RUNTIME_DIR": str(home / "runtime"), "PYTHONUNBUFFERED": "1", **extra}


def run(job: dict[str, Any], folder: Path, limit_s: float, module: str = "tests.gpu.chat_run") -> dict[str, Any]:
    """The job's result, or {"name", "error", "log_end"} where it has none within the limit."""
    name = job["name"]
    folder.mkdir(parents=True, exist_ok=True)
    given, result, log = (folder / f"{name}{end}" for end in (".job.json", ".json", ".log"))
    given.write_text(json.dumps(job))
    result.unlink(missing_ok=True)
    home, began = folder / f"{name}.home", time.monotonic()
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", module, str(given), str(result)], stdout=output, stderr=output,
            env=environment(home, job.get("environment", {})), start_new_session=True,
        )  # fmt: skip
        try:
            code: int | None = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)  # the worker, in a group of its own, dies with its parent
            process.wait()
            code = None
    took = time.monotonic() - began
    print(f"{name}: {'over its limit' if code is None else f'exit {code}'} after {took:.0f} s", flush=True)
    if result.exists():
        found: dict[str, Any] = json.loads(result.read_text())
        return found
    how = f"no result within {limit_s:.0f} s" if code is None else f"exit code {code} and no result"
    return {"name": name, "error": how, "log_end": tail(log, 15) + worker_log(home)}


def tail(path: Path, lines: int) -> list[str]:
    try:
        return path.read_text(errors="replace").splitlines()[-lines:]
    except OSError:
        return []


def worker_log(home: Path) -> list[str]:
    """The end of the newest engine log below a run's home."""
    logs = sorted(home.glob("state/**/*.log"), key=lambda path: path.stat().st_mtime)
    return tail(logs[-1], 40) if logs else []


def run_all(
    jobs: list[dict[str, Any]], folder: Path, together: int, limit_s: float, deadline: float
) -> list[dict[str, Any]]:
    """All results, in the order of `jobs`. `deadline`: monotonic time by which the last one has to be done."""
    lock = threading.Lock()

    def one(job: dict[str, Any]) -> dict[str, Any]:
        left = deadline - time.monotonic()
        if left < 45:
            return {"name": job["name"], "error": "no time left to run it"}
        found = run(job, folder, min(limit_s, left))
        with lock:
            (folder / "done.json").write_text(json.dumps(found, default=str))
        return found

    with ThreadPoolExecutor(together) as pool:
        return list(pool.map(one, jobs))

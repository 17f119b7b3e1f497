"""What a person meets on empty caches, with nothing else on the GPU: the first prompt of a length after ready beside a
second one, and how soon another `spark-chat check` has the engine that the first left behind.

Each question is a process of its own; all but the first take the engine over.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.gpu import jobs
from tests.gpu.oracle_text import FIRST_WORD, word

WORDS = (8, 60, 250, 1_000, 3_000, 7_000)
"""Of a prompt: what is compiled apart lies between."""
LIMIT = 1.2
"""Times a later prompt's TTFT that the first of its length may take."""
OUT = 32
PORT = 34_000


def prompt(words: int, number: int) -> str:
    """Fresh words each time: nothing of it is in the cache."""
    rng = random.Random(words * 100 + number)
    return " ".join(word(rng.randrange(FIRST_WORD, 100_000)) for _ in range(words))


def command(model: Path, engine: str, args: dict[str, Any]) -> list[str]:
    path = model.parent / "settings-reopen.toml"
    given = ", ".join(f"{name} = {json.dumps(value)}" for name, value in args.items())
    path.write_text(f"[engine]\nargs = {{ {given} }}\n" if args else "")
    sets = {
        "sampling.thinking": "false", "sampling.temperature": "0", "sampling.max_tokens": str(OUT),
        "engine.context": "16384", "engine.linger_s": "300", "optimizations.strict": "false",
    }  # fmt: skip
    found = [sys.executable, "-m", "spark_chat", "check", "-", "--json", "--model", str(model), "--engine", engine]
    for key, value in sets.items():
        found += ["--set", f"{key}={value}"]
    return [*found, "--config", str(path)]


def run(model: Path, work: Path, limit_s: float, engine: str = "sglang", repeats: int = 2) -> dict[str, Any]:
    """The record; {"ok": False, "error"} where a check fails."""
    until = time.monotonic() + limit_s
    home = work / "reopen.home"
    environment = jobs.environment(home, {})
    args: dict[str, Any] = {}
    if engine == "sglang":
        args = {"load_format": "dummy", "max_total_tokens": 32_768, "nccl_port": PORT}
    asked = command(model, engine, args)
    answers: list[dict[str, Any]] = []
    try:
        for words in WORDS:
            for number in range(repeats):
                began = time.monotonic()
                done = subprocess.run(
                    asked, input=prompt(words, number), capture_output=True, text=True, env=environment,
                    timeout=max(1.0, until - began),
                )  # fmt: skip
                found = json.loads(done.stdout) if done.stdout else {"failure": done.stderr[-2000:]}
                if found.get("failure") or not found.get("runs"):
                    return {"ok": False, "error": str(found.get("failure"))[:1000], "answers": answers,
                            "log_end": jobs.worker_log(home)}  # fmt: skip
                answers.append(answer(words, found) | {"wall_s": round(time.monotonic() - began, 3)})
    except (subprocess.TimeoutExpired, ValueError) as error:
        return {"ok": False, "error": str(error)[-300:], "answers": answers, "log_end": jobs.worker_log(home)}
    finally:
        stop = [sys.executable, "-m", "spark_chat", "stop"]
        stopped = subprocess.run(stop, capture_output=True, text=True, env=environment, timeout=60)
    return judged(answers) | {"stopped": stopped.stdout.strip(), "left": left(home)}


def answer(words: int, found: dict[str, Any]) -> dict[str, Any]:
    run = found["runs"][0]
    taken = found.get("taken_over")
    return {
        "words": words, "prompt_tokens": run["prompt_tokens"], "ttft_s": run["ttft_s"], "ready_s": found["ready_s"],
        "taken_over": taken is not None, "stages": taken["stages"] if taken else None,
        "states": {name: item["state"] for name, item in found["optimizations"].items()},
    }  # fmt: skip


def judged(answers: list[dict[str, Any]]) -> dict[str, Any]:
    """`first_over_second` by words of the prompt; `found_in_s`: of those that took the engine over, the longest."""
    ttft: dict[int, list[float]] = {}
    for each in answers:
        ttft.setdefault(each["words"], []).append(each["ttft_s"])
    ratios = {str(words): times[0] / times[1] for words, times in ttft.items() if len(times) > 1}
    later = answers[1:]
    found_in = max((each["ready_s"] for each in later), default=None)
    same = bool(answers) and all(each["states"] == answers[0]["states"] for each in later)
    return {
        "ok": bool(later) and same and all(each["taken_over"] for each in later) and (found_in or 9) < 1.0,
        "ready_s": answers[0]["ready_s"] if answers else None, "stages": later[0]["stages"] if later else None,
        "states": answers[0]["states"] if answers else None, "proofs_came_along": same,
        "found_in_s": found_in, "whole_check_s": max((each["wall_s"] for each in later), default=None),
        "first_over_second": ratios, "within_limit": all(ratio <= LIMIT for ratio in ratios.values()),
        "answers": answers,
    }  # fmt: skip


def left(home: Path) -> list[str]:
    """Sockets left in the runtime folder. A lock file may stay: only a lock that is held says anything."""
    return sorted(path.name for path in (home / "runtime").rglob("*") if path.is_socket())

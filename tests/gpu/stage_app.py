"""The app as a person runs it, on the oracle: `spark-chat check --json`, the chat on a terminal, and SGLang by hand."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

from spark_chat.recipe import kernel_cache
from tests import waiting
from tests.gpu import jobs
from tests.gpu.oracle_text import ASSISTANT, THINK, Oracle, word

COLUMNS, LINES = 120, 34
PROMPT = "Say what you know."
FAILED = "f5 start again"
"""Shown where the engine failed: nothing more will come."""
BADGES = ("● Humming", "● FP8 head", "● MTP")


def options(model: Path, port: int, thinking: bool) -> list[str]:
    sets = {
        "sampling.thinking": str(thinking).lower(), "sampling.temperature": "0", "sampling.max_tokens": "257",
        "engine.context": "8192", "engine.linger_s": "0", "optimizations.strict": "false",
    }  # fmt: skip
    found = ["--model", str(model), "--engine", "sglang"]
    for key, value in sets.items():
        found += ["--set", f"{key}={value}"]
    return [*found, "--config", str(settings_file(model, port))]


def settings_file(model: Path, port: int) -> Path:
    path = model.parent / f"settings-{port}.toml"
    path.write_text(f"[engine]\nargs = {{ max_total_tokens = 16384, nccl_port = {port}, mem_fraction_static = 0.8 }}\n")
    return path


def check(model: Path, out: Path, limit_s: float) -> dict[str, Any]:
    """`spark-chat check --json`, the known text and the constructed accept length."""
    command = [
        sys.executable,
        "-m",
        "spark_chat",
        "check",
        "-",
        "--json",
        "--runs",
        "2",
        *options(model, 33_000, False),
    ]
    environment = jobs.environment(out / "check.home", {})
    try:
        done = subprocess.run(command, input=PROMPT, capture_output=True, text=True, env=environment, timeout=limit_s)
    except subprocess.TimeoutExpired as error:
        return {"ok": False, "error": str(error)[-300:], "log_end": jobs.worker_log(out / "check.home")}
    (out / "check.stdout.json").write_text(done.stdout)
    (out / "check.stderr.txt").write_text(done.stderr)
    try:
        found = json.loads(done.stdout)
    except ValueError:
        return {"ok": False, "error": f"exit {done.returncode}", "stderr": done.stderr[-3000:]}
    expected = Oracle.load(model).expect(ASSISTANT, 257)
    known = " ".join(word(token) for token in expected.tokens)
    states = {name: item["state"] for name, item in found["optimizations"].items()}
    runs = found["runs"]
    return {
        "ok": bool(runs) and set(states.values()) == {"ACTIVE"} and all(
            run["text"].split() == known.split() and run["accept_length"] == expected.accept_length for run in runs
        ),
        "states": states,
        "accept_length": [run["accept_length"] for run in runs],
        "accept_constructed": expected.accept_length,
        "text_equal": [run["text"].split() == known.split() for run in runs],
        "exit": done.returncode,
    }  # fmt: skip


def tui(model: Path, out: Path, limit_s: float) -> dict[str, Any]:
    """The chat on a pty: badges, an answer with its line, the screen's text kept."""
    import pexpect
    import pyte

    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.Stream(screen)
    environment = jobs.environment(out / "tui.home", {"TERM": "xterm-256color", "COLORTERM": "truecolor"})
    child = pexpect.spawn(
        sys.executable, ["-m", "spark_chat", *options(model, 33_100, True)], env=environment,
        dimensions=(LINES, COLUMNS), encoding="utf-8", codec_errors="replace", timeout=5,
    )  # fmt: skip
    until = time.monotonic() + limit_s
    screens: dict[str, list[str]] = {}

    def shown() -> str:
        return "\n".join(screen.display)

    def wait(name: str, seen: Any) -> bool:
        while time.monotonic() < until and child.isalive():
            try:
                stream.feed(child.read_nonblocking(65536, timeout=1))
            except pexpect.TIMEOUT:
                pass
            except pexpect.EOF:
                break
            if seen(shown()):
                screens[name] = [line.rstrip() for line in screen.display]
                return True
            if FAILED in shown():
                break
        screens[name + " (not seen)"] = [line.rstrip() for line in screen.display]
        return False

    found: dict[str, Any] = {}
    try:
        found["first_screen"] = wait("first screen", lambda text: "spark-chat" in text)
        found["badges"] = wait("ready", lambda text: all(badge in text for badge in BADGES))
        if found["badges"]:
            child.send(PROMPT)
            wait("typed", lambda text: PROMPT in text)
            child.send("\r")
            found["answered"] = wait("answered", lambda text: "257 tok" in text)
            last = word(Oracle.load(model).expect(THINK, 257).tokens[-1])
            found["text"] = last in shown()
            found["accept"] = "accept 4.00" in shown()
        child.send("\x11")
        wait("closing", lambda text: False) if child.isalive() and time.monotonic() + 8 < until else None
    finally:
        child.close(force=True)
        (out / "tui.screens.json").write_text(json.dumps(screens, indent=1, ensure_ascii=False))
    found["ok"] = all(found.get(part) for part in ("first_screen", "badges", "answered", "text", "accept"))
    found["screen"] = screens.get("answered") or list(screens.values())[-1]
    found["log_end"] = [] if found["ok"] else jobs.worker_log(out / "tui.home")
    return found


def by_hand(model: Path, out: Path, limit_s: float) -> dict[str, Any]:
    """`SGLANG_ENABLE_FP8_LM_HEAD=1 python -m sglang.launch_server`: the same proof in /server_info, and the text."""
    port = 33_210
    environment = jobs.environment(out / "hand.home", {"SGLANG_ENABLE_FP8_LM_HEAD": "1", **kernel_cache.environment()})
    for name in [name for name in environment if name.startswith("SPARK_CHAT_")]:
        del environment[name]
    flags = (
        f"--model-path {model} --port {port} --nccl-port 33220 --attention-backend triton --fp8-gemm-backend triton "
        "--page-size 64 --moe-runner-backend humming --disable-shared-experts-fusion --max-mamba-cache-size 64 "
        "--max-running-requests 1 --max-total-tokens 16384 --cuda-graph-max-bs-decode 1 --mem-fraction-static 0.8 "
        "--cuda-graph-backend-prefill disabled --skip-server-warmup --context-length 8192 "
        f"--speculative-algorithm NEXTN --speculative-draft-model-path {model} --speculative-num-steps 3 "
        "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4"
    )
    log, until = out / "hand.log", time.monotonic() + limit_s
    command = [sys.executable, "-m", "sglang.launch_server", *flags.split()]
    server = threading.Thread(target=jobs.held, args=("hand", command, log, environment, limit_s), daemon=True)
    server.start()
    try:
        info = _info(port, server, limit_s)
        if info is None:
            return {"ok": False, "error": "no answer in time" if server.is_alive() else "the server ended",
                    "log_end": jobs.tail(log, 30)}  # fmt: skip
        seen = info.get("spark_chat") or {}
        head, draft = seen.get("head") or {}, seen.get("draft") or {}
        right = head.get("dtype") == "float8_e4m3fn" and bool(draft.get("head_is_target"))
        answer = _known_answer(port, model, max(20.0, until - time.monotonic()))
        return {"ok": right and answer["ok"], "answer": answer, "head": head, "draft": draft,
                "hooks": seen.get("hooks")}  # fmt: skip
    finally:
        jobs.end("hand")
        server.join(20)


def _info(port: int, server: threading.Thread, limit_s: float) -> dict[str, Any] | None:
    """What the server says of itself, once it answers; None where it ended, or does not in time."""
    found: dict[str, Any] | None = None

    def over() -> bool:
        nonlocal found
        try:
            found = _get(f"http://127.0.0.1:{port}/server_info", None, 5)
        except OSError:
            return not server.is_alive()
        return True

    waiting.comes(over, limit_s, every=1)
    return found


def _get(address: str, body: dict[str, Any] | None, limit_s: float) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=limit_s) as answer:
        return json.loads(answer.read())


def _known_answer(port: int, model: Path, limit_s: float) -> dict[str, Any]:
    """65 tokens after <think>: known, and four a verify step."""
    expected = Oracle.load(model).expect(THINK, 65)
    body = {"input_ids": [THINK], "sampling_params": {"max_new_tokens": 65, "temperature": 0.0}}
    try:
        found = _get(f"http://127.0.0.1:{port}/generate", body, limit_s)
    except OSError as error:
        return {"ok": False, "error": str(error)}
    meta = found["meta_info"]
    equal = list(found.get("output_ids") or []) == expected.tokens
    steps = (meta.get("spec_verify_ct"), expected.verify_steps)
    return {"ok": equal and steps[0] == steps[1], "text_equal": equal, "verify_steps": steps}

"""All eight settings of the three toggles on the oracle: text, accept length and badges against what is known."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

from tests.gpu.oracle_text import ASSISTANT, FIRST_WORD, THINK, Oracle, word

NAMES = ("humming", "fp8_head", "mtp")
STEPS = 3
PROMPT = "Say what you know."


def words(seed: int, count: int) -> str:
    rng = random.Random(seed)
    return " ".join(word(rng.randrange(FIRST_WORD, 4000)) for _ in range(count))


def ask(prompt: str, tokens: int, thinking: bool = False, temperature: float = 0.0) -> dict[str, Any]:
    return {"prompt": prompt, "max_tokens": tokens, "thinking": thinking, "temperature": temperature}


ASKS: list[dict[str, Any]] = [
    ask(PROMPT, 257),
    ask(PROMPT, 257, thinking=True),
    ask(PROMPT, 43, thinking=True),
    ask(PROMPT + " Once more.", 513),
    ask(PROMPT, 129, temperature=0.6),
    ask(PROMPT, 33),
    ask(words(1, 900), 33),
    ask(words(2, 900), 33),
    ask(words(3, 3000), 17),
    ask(words(4, 3000), 17),
]
"""A prompt that ends in <think> goes on in the cycle whose drafts are all right, one that doesn't in the mixed one.
257 is 1 + 4 * 64: accept length is then exactly 4 in the first. 43 ends inside an accepted block."""
PAIRS = {"short": (0, 5), "900 words": (6, 7), "3,000 words": (8, 9)}
"""The first prompt of a length, and a later one of the same: their times to the first token should be alike."""


def base(model: Path, port: int) -> dict[str, Any]:
    return {
        "engine.kind": "sglang", "engine.model": str(model), "engine.linger_s": 0, "engine.context": 8192,
        "engine.args": {"max_total_tokens": 16_384, "nccl_port": port, "mem_fraction_static": 0.8},
    }  # fmt: skip


def settings_of(toggles: tuple[bool, ...]) -> dict[str, Any]:
    return {f"optimizations.{name}": on for name, on in zip(NAMES, toggles, strict=True)}


def name_of(toggles: tuple[bool, ...]) -> str:
    return "-".join(("" if on else "no_") + name for name, on in zip(NAMES, toggles, strict=True))


def make(model: Path) -> list[dict[str, Any]]:
    """All on first: it compiles the most."""
    found = []
    for number, toggles in enumerate(itertools.product((True, False), repeat=3)):
        found.append({"name": name_of(toggles), "toggles": toggles, "asks": ASKS,
                      "settings": base(model, 31_000 + 10 * number) | settings_of(toggles)})  # fmt: skip
    return found


def unshared(model: Path) -> dict[str, Any]:
    """Sharing taken away: FAILED or the engine's death, never a green badge."""
    return {"name": "unshared", "share_head": False, "asks": ASKS[:1],
            "settings": base(model, 31_200) | settings_of((True, True, True))}  # fmt: skip


def automatic(model: Path) -> dict[str, Any]:
    """draft_steps = "auto": the text is the known one whatever lengths are chosen."""
    return {"name": "draft_steps-auto", "asks": [ASKS[0], ASKS[1], ASKS[3]],
            "settings": base(model, 31_210) | {"optimizations.draft_steps": "auto"}}  # fmt: skip


def rejecting(model: Path) -> dict[str, Any]:
    """Rejection sampling with block verification, at a temperature."""
    values = base(model, 31_220)
    values["engine.args"] |= {"speculative_use_block_verification": True, "speculative_use_rejection_sampling": True}
    return {"name": "block_verification", "asks": [ASKS[0], ASKS[4]], "settings": values}


def judge(job: dict[str, Any], found: dict[str, Any], oracle: Oracle) -> dict[str, Any]:
    """The record of one setting. `ok`: everything was as known."""
    toggles = tuple(job["toggles"])
    states = {name: found.get("optimizations", {}).get(name, {}).get("state") for name in NAMES}
    runs = [run_against(run, ask, toggles[2], oracle) for run, ask in zip(found.get("runs", []), job["asks"])]  # noqa: B905
    wanted = {name: "ACTIVE" if on else "OFF" for name, on in zip(NAMES, toggles, strict=True)}
    whole = len(runs) == len(job["asks"])
    right = all(run["text_equal"] and run["counts_equal"] for run in runs)
    return {
        **dict(zip(NAMES, toggles, strict=True)),
        "states": states,
        "text_equal": bool(runs) and all(run["text_equal"] for run in runs),
        "counts_equal": bool(runs) and all(run["counts_equal"] for run in runs),
        "accept_length": [run["accept_length"] for run in runs],
        "accept_constructed": [run["accept_constructed"] for run in runs],
        "answers": [len(runs), len(job["asks"])],
        "decode_tok_s": [run["decode_tok_s"] for run in runs],
        "first_over_later_ttft": ratios(found.get("runs", [])),
        "ttft_s": [run.get("ttft_s") for run in found.get("runs", [])],
        "ready_s": found.get("ready_s"),
        "stages": found.get("stages"),
        "reasons": {name: item.get("reason") for name, item in found.get("optimizations", {}).items()},
        "proofs": {name: item.get("proof") for name, item in found.get("optimizations", {}).items()},
        "startup_time": (found.get("facts") or {}).get("startup_time"),
        "differences": [run["difference"] for run in runs if run["difference"]],
        "resolved_otherwise": otherwise(found),
        "error": found.get("error") or found.get("failure"),
        "log_end": found.get("log_end", [])[-25:],
        "ok": states == wanted and whole and right,
    }


def ratios(runs: list[dict[str, Any]]) -> dict[str, float]:
    found = {}
    for name, (first, later) in PAIRS.items():
        if later < len(runs) and runs[first].get("ttft_s") and runs[later].get("ttft_s"):
            found[name] = runs[first]["ttft_s"] / runs[later]["ttft_s"]
    return found


def said(run: dict[str, Any]) -> list[str]:
    thought = run["reasoning"].split()
    return [*thought, *(["</think>"] if thought and run["text"] else []), *run["text"].split()]


def run_against(run: dict[str, Any], ask: dict[str, Any], mtp: bool, oracle: Oracle) -> dict[str, Any]:
    """Sampled text is the same as greedy: every other token is far behind."""
    expected = oracle.expect(THINK if ask["thinking"] else ASSISTANT, ask["max_tokens"], STEPS)
    if "text" not in run:
        return {"text_equal": False, "counts_equal": False, "accept_length": None, "accept_constructed": None,
                "decode_tok_s": None, "difference": str(run)}  # fmt: skip
    seen, known = said(run), [word(token) for token in expected.tokens]
    place = next((at for at, pair in enumerate(itertools.zip_longest(seen, known)) if pair[0] != pair[1]), None)
    counts = (run["completion_tokens"], run["verify_steps"], run["accepted_drafts"], run["accepted_histogram"])
    right = (len(known), expected.verify_steps, expected.accepted_drafts, expected.histogram)
    # with a temperature the drafts are judged by chance where the target is not certain: only the text is held
    held = counts == right if mtp and ask["temperature"] == 0 else run["completion_tokens"] == len(known)
    difference = "" if place is None and held else f"first difference at {place}: {counts} for {right}"
    return {
        "text_equal": place is None,
        "counts_equal": held and (mtp or run["accept_length"] is None),
        "accept_length": run["accept_length"],
        "accept_constructed": expected.accept_length if mtp else None,
        "decode_tok_s": run["decode_tok_s"],
        "difference": difference,
    }


def otherwise(found: dict[str, Any]) -> dict[str, Any]:
    """Arguments that SGLang resolved to something else than the recipe says."""
    resolved = (found.get("facts") or {}).get("resolved") or {}
    return {name: [value, resolved[name]] for name, value in (found.get("args") or {}).items()
            if name in resolved and resolved[name] != value and value is not None}  # fmt: skip


def judge_unshared(found: dict[str, Any]) -> dict[str, Any]:
    states = {name: item.get("state") for name, item in found.get("optimizations", {}).items()}
    return {
        "states": states,
        "phase": found.get("phase"),
        "failure": found.get("failure") or found.get("error"),
        "reason": found.get("optimizations", {}).get("mtp", {}).get("reason"),
        "log_end": found.get("log_end", [])[-12:],
        "stages": found.get("stages"),
        "ok": states.get("mtp") == "FAILED" and any(stage == "draft" for _, stage in found.get("stages", [])),
    }


def judge_text(job: dict[str, Any], found: dict[str, Any], oracle: Oracle) -> dict[str, Any]:
    """Of a setting whose counts are not known, only its text."""
    runs = [run_against(run, ask | {"temperature": 1.0}, True, oracle)
            for run, ask in zip(found.get("runs", []), job["asks"])]  # noqa: B905  # fmt: skip
    return {
        "states": {name: item.get("state") for name, item in found.get("optimizations", {}).items()},
        "text_equal": bool(runs) and all(run["text_equal"] for run in runs),
        "accept_length": [run["accept_length"] for run in runs],
        "draft": found.get("optimizations", {}).get("mtp", {}).get("proof"),
        "error": found.get("error") or found.get("failure"),
        "log_end": found.get("log_end", [])[-12:],
        "ok": len(runs) == len(job["asks"]) and all(run["text_equal"] for run in runs),
    }

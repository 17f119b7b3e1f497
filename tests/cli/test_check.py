"""`spark-chat check` as a process: with the real engine and model, with bad input, under signals."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.cli.process import Finished, run, signalled_at, spawn

pytestmark = pytest.mark.usefixtures("home")


def workers() -> list[int]:
    """Engine workers that this test's processes left behind."""
    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        command, variables = process.info["cmdline"] or [], process.info["environ"] or {}
        if "spark_chat.engine.worker" in command and variables.get("XDG_CACHE_HOME") == MARK["cache"]:
            found.append(process.pid)
    return found


MARK = {"cache": ""}


@pytest.fixture(autouse=True)
def nothing_is_left(home: Path) -> object:
    MARK["cache"] = str(home / "cache")
    yield
    assert workers() == []


@pytest.mark.model
@pytest.mark.parametrize("prompt", ["Write a short story about a lighthouse.", "Say hello."])
def test_tokens_equal_an_independent_count(model: Path, prompt: str) -> None:
    limit = "100"
    reference = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "reference.py"), str(model), limit],
        input=prompt, capture_output=True, text=True, check=True,
    )  # fmt: skip
    counted = json.loads(reference.stdout)
    checked = run(
        "check", "-", "--json", "--max-tokens", limit, "--model", str(model), "--set", "sampling.temperature=0",
        "--set", "optimizations.mtp=off", stdin=prompt.encode(),
    )  # fmt: skip
    assert checked.code == 0, checked.err
    (seen,) = checked.record["runs"]
    assert seen["text"] == counted["text"]
    assert seen["completion_tokens"] == len(counted["ids"])
    assert seen["prompt_tokens"] == counted["prompt"]
    assert seen["finish_reason"] == {"limit": "length", "eos": "stop"}[counted["why"]]
    assert (seen["accept_length"], seen["verify_steps"]) == (None, None)
    assert checked.record["optimizations"]["mtp"]["state"] == "OFF"


@pytest.mark.model
def test_times_and_steps_equal_the_engines_own(model: Path) -> None:
    prompt = b"Repeat this line ten times: The quick brown fox jumps over the lazy dog."
    checked = run(
        "check", "-", "--json", "--runs", "2", "--max-tokens", "150", "--model", str(model), "--set",
        "sampling.temperature=0", stdin=prompt,
    )  # fmt: skip
    assert checked.code == 0, checked.err
    record = checked.record
    assert [run["cold"] for run in record["runs"]] == [True, False]
    assert record["runs"][1]["cached_tokens"] > 0
    for seen in record["runs"]:
        own = seen["engine_figures"]
        tokens = seen["completion_tokens"]
        assert tokens == own["predicted_n"]
        assert seen["decode_tok_s"] == pytest.approx((tokens - 1) / (own["predicted_ms"] / 1000), rel=0.03)
        assert seen["ttft_s"] >= own["prompt_ms"] / 1000
        accepted = own.get("draft_n_accepted", 0)
        assert seen["accepted_drafts"] == accepted
        assert seen["verify_steps"] == tokens - 1 - accepted
        assert seen["accept_length"] == pytest.approx((tokens - 1) / (tokens - 1 - accepted))
    drafted = any(seen["proposed_drafts"] for seen in record["runs"])
    assert record["optimizations"]["mtp"]["state"] == ("ACTIVE" if drafted else "STARTING")
    assert record["optimizations"]["mtp"]["kind"] == "n-gram"


@pytest.mark.model
def test_ctrl_c_keeps_what_was_measured(model: Path) -> None:
    process = spawn(
        "check", "--json", "--runs", "500", "--max-tokens", "20", "--model", str(model), "--set",
        "sampling.temperature=0",
    )  # fmt: skip
    stopped = signalled_at(process, "run 2 of 500", signal.SIGINT)
    assert stopped.code == 130, stopped.err
    runs = stopped.record["runs"]
    assert 2 <= len(runs) < 500 and runs[0]["completion_tokens"] == 20
    assert stopped.record["interrupted"] is True
    assert "Traceback" not in stopped.err


@pytest.mark.model
@pytest.mark.parametrize("said", ["Starting", "is ready"])
def test_an_end_from_outside_leaves_no_engine(model: Path, said: str) -> None:
    process = spawn("check", "--runs", "500", "--max-tokens", "20", "--model", str(model))
    stopped = signalled_at(process, said, signal.SIGTERM)
    assert stopped.code == 130 and "Traceback" not in stopped.err


@pytest.mark.model
def test_a_prompt_of_10_mb_says_how_much_too_long_it_is(model: Path) -> None:
    checked = run("check", "-", "--json", "--model", str(model), stdin=b"word " * 2_000_000)
    assert checked.code == 2, checked.err
    failure = checked.record["failure"]
    assert failure["code"] == "overflow" and failure["facts"]["at_least"], "it is told without being tokenised"
    assert 8_192 < failure["facts"]["prompt_tokens"] <= 2_000_000
    assert "at least" in checked.err and "tokens" in checked.err and "Traceback" not in checked.err


@pytest.mark.model
def test_a_damaged_model_is_the_engines_failure_with_its_log(model: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(model.read_bytes()[:3_000_000])
    checked = run("check", "--json", "--model", str(damaged))
    assert checked.code == 1, checked.err
    assert checked.record["failure"]["what"] and checked.record["runs"] == []
    assert "Traceback" not in checked.err


@pytest.mark.model
def test_an_engine_argument_that_does_not_exist_is_bad_input(model: Path) -> None:
    checked = run("check", "--model", str(model), "--set", "engine.args.n_btach=3")
    assert checked.code == 2 and "n_batch" in checked.err


def refused(finished: Finished, said: str) -> None:
    assert finished.code == 2, finished.err
    assert said in finished.err and "Traceback" not in finished.err
    assert finished.out == ""


def test_bad_prompts_are_refused_before_anything_loads() -> None:
    refused(run("check", "-", stdin=b"\xff\xfe"), "not UTF-8")
    refused(run("check", "-", stdin=b""), "is empty")
    refused(run("check", "/no/such/prompt"), "No such file")
    refused(run("check", "--runs", "0"), "--runs")
    refused(run("check", "--set", "optimizations.mpt=on"), "optimizations.mtp")


def test_a_model_that_is_not_there_is_bad_input() -> None:
    checked = run("check", "--model", "/no/such/model.gguf")
    assert checked.code == 2 and "/no/such/model.gguf" in checked.err and "Traceback" not in checked.err


def test_sglang_where_it_cant_run_says_so() -> None:
    checked = run("check", "--json", "--engine", "sglang")
    assert checked.code == 2
    assert "engine.kind = sglang was asked for, but" in checked.record["failure"]["what"]

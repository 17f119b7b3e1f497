"""`spark-chat bench` as a process: with the real engine and model, with bad input, under a signal."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from spark_chat import locations
from tests.cli.process import Finished, run, signalled_at, spawn
from tests.engine import oracle_gguf

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    file = tmp_path / "mine.jsonl"
    rows = [{"name": "count", "prompt": "Count from 1 to 30."}, {"name": "again", "prompt": "Say hello ten times."}]
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


@pytest.mark.model
def test_two_configurations_and_their_record(model: Path, prompts: Path, tmp_path: Path) -> None:
    done = run("bench", "--vary", "mtp=off,on", str(prompts), "--rounds", "2", "--max-tokens", "16", "--fixed-length",
               "--json", "--model", str(model))  # fmt: skip
    assert done.code == 0, done.err
    off, on = done.record["configurations"]
    assert off["settings"] == {"optimizations.mtp": False} and on["settings"] == {"optimizations.mtp": True}
    assert off["decode_tok_s"]["n"] == on["decode_tok_s"]["n"] == 4
    assert on["ratio_to_first"]["low"] <= on["ratio_to_first"]["median"] <= on["ratio_to_first"]["high"]
    assert off["optimizations"]["mtp"]["state"] == "OFF"
    drafting = on["optimizations"]["mtp"]
    drafted = bool(drafting["proof"].get("counters", {}).get("proposed_drafts"))
    assert drafting["kind"] == "n-gram" and drafting["state"] == ("ACTIVE" if drafted else "STARTING"), drafting
    assert off["accept_length"] is None and on["accept_length"]["median"] >= 1
    for item in (off, on):
        assert {entry["completion_tokens"] for entry in item["runs"]} == {16}
        for entry in item["runs"]:
            assert entry["completion_tokens"] == entry["engine_figures"]["predicted_n"]
    assert on["texts_differ"] == [], "drafting does not change what is said"
    assert done.record["limit"]["bytes_per_token"] == pytest.approx(96.6e6, rel=0.01)
    assert str(tmp_path) not in done.out and str(model.parent) not in done.out

    shown = run("bench", "show")
    assert shown.code == 0 and "mtp=on" in shown.out and "baseline" in shown.out
    assert run("bench", "diff", "last", "last", "--json").record["configurations"][1]["ratio"]["median"] == 1.0
    assert run("bench", "export", "--format", "csv").out.count("\n") == 1 + len(off["runs"]) + len(on["runs"])
    chart = tmp_path / "chart.svg"
    assert run("bench", "export", "-o", str(chart)).code == 0 and chart.read_bytes().startswith(b"<?xml")
    assert "20" in run("bench", "list").out


@pytest.mark.model
def test_ctrl_c_keeps_what_was_measured_and_resume_goes_on(model: Path, prompts: Path) -> None:
    command = ["bench", "run", str(prompts), "--rounds", "3", "--max-tokens", "8", "--model", str(model)]
    stopped = signalled_at(
        spawn(*command, "--json"), "1 of 6", signal.SIGINT
    )  # fmt: skip
    assert stopped.code == 130, stopped.err
    (item,) = stopped.record["configurations"]
    assert 1 <= item["runs_counted"] < 6 and stopped.record["interrupted"] and "--resume goes on" in stopped.err
    whole = run(*command, "--json", "--resume")
    assert whole.code == 0, whole.err
    assert whole.record["id"] == stopped.record["id"] and whole.record["configurations"][0]["runs_counted"] == 6
    assert run(*command, "--resume").code == 2, "there is nothing left to go on with"


def test_a_long_synthetic_prompt_and_its_answer_are_exactly_as_long_as_they_say(tmp_path: Path) -> None:
    path = oracle_gguf.write(tmp_path / "letters.gguf", stop_after="d", context=65_536)
    done = run("bench", "run", "synthetic-8k-512", "--rounds", "1", "--json", "--model", str(path), "--set", "mtp=off",
               "--set", "engine.context=16384")  # fmt: skip
    assert done.code == 0, done.err
    warm_up, measured = done.record["configurations"][0]["runs"]
    for answer, tokens in ((warm_up, 32), (measured, 512)):
        assert answer["failure"] is None and answer["finish_reason"] == "length"
        assert (answer["prompt_tokens"], answer["completion_tokens"]) == (8_192, tokens)
        assert answer["engine_figures"]["prompt_n"] + answer["engine_figures"]["cache_n"] == 8_192
        assert answer["engine_figures"]["predicted_n"] == tokens, "its text ends after four letters, and it goes on"
    assert measured["cached_tokens"] < 100 and done.record["sampling"]["temperature"] == 0


@pytest.mark.model
def test_a_synthetic_prompt_is_exactly_as_long_as_it_says(model: Path) -> None:
    done = run("bench", "run", "synthetic-300-4", "--rounds", "3", "--json", "--model", str(model))
    assert done.code == 0, done.err
    runs = done.record["configurations"][0]["runs"]
    assert {entry["prompt_tokens"] for entry in runs} == {300}
    assert {entry["completion_tokens"] for entry in runs} == {4}
    assert max(entry["cached_tokens"] for entry in runs) < 60, "no text comes twice"


@pytest.mark.model
def test_a_fresh_prefix_is_unknown_to_the_cache_and_always_as_long(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "tea.txt"
    file.write_text("Tell me about tea.")
    common = ("bench", "run", str(file), "--rounds", "6", "--max-tokens", "2", "--fixed-length", "--no-save", "--json",
              "--model", str(model))  # fmt: skip
    (warm,), (fresh,) = (run(*common, *more).record["configurations"] for more in ((), ("--fresh",)))
    lengths = {entry["prompt_tokens"] for entry in fresh["runs"]}
    assert len(lengths) == 1 and len(fresh["runs"]) == 7
    warm_up, first, *later = warm["runs"]
    without = first["prompt_tokens"]
    assert warm_up["prompt_tokens"] in lengths and first["cached_tokens"] < without - 5, "a warm-up leaves it nothing"
    assert {entry["cached_tokens"] for entry in later} == {without - 1}, "else all comes out of the cache"
    cached = [entry["cached_tokens"] for entry in fresh["runs"]]
    assert max(cached) < without - 5 and lengths.pop() - max(cached) >= 10, "the template's beginning at most"


@pytest.mark.model
def test_a_run_that_is_killed_goes_on_without_asking_twice(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "test.jsonl"
    rows = [{"question": f"How much is {n} and {n}?", "answer": f"#### {2 * n}"} for n in range(17)]
    file.write_text("\n".join(map(json.dumps, rows)))
    command = ["bench", "run", "gsm8k", "--data", str(file), "--max-tokens", "6", "--vary", "mtp=off,on", "--json",
               "--model", str(model)]  # fmt: skip
    killed = signalled_at(spawn(*command), "1 of 24", signal.SIGKILL)
    assert killed.code == -signal.SIGKILL and killed.out == ""
    (journal,) = locations.bench().glob("*.jsonl")
    kept = [json.loads(line) for line in journal.read_bytes().split(b"\n")[1:-1]]
    before = {(entry["configuration"], entry["item"]): entry["at_s"] for entry in kept
              if entry["kind"] == "answer" and entry.get("role", "measured") == "measured"}  # fmt: skip
    assert before and len(before) < 24
    whole = run(*command, "--resume")
    assert whole.code == 0, whole.err
    assert whole.record["id"] == journal.stem and not journal.exists()
    for place, item in enumerate(whole.record["configurations"]):
        runs = [entry for entry in item["runs"] if entry["role"] == "measured"]
        assert sorted(entry["item"] for entry in runs) == sorted({entry["item"] for entry in runs}) and len(runs) == 12
        same = [entry for entry in runs if before.get((place, entry["item"]), -1) == entry["at_s"]]
        assert len(same) == sum(where == place for where, _ in before), "what was finished stands as it was"
        assert item["accuracy"]["of"] == 12


@pytest.mark.model
def test_a_configuration_that_fails_is_a_row_and_the_others_go_on(model: Path, prompts: Path) -> None:
    done = run("bench", "--vary", "engine.args.n_btach=1,2", "--vary", "mtp=on", str(prompts), "--model", str(model))
    assert done.code == 1, "none ran"
    assert done.out.count("did not run") == 2 and "n_batch" in done.err and "Traceback" not in done.err
    some = run("bench", "--vary", "engine.args.cache_type_k=f16,none_such", str(prompts), "--rounds", "1", "--json",
               "--max-tokens", "4", "--model", str(model))  # fmt: skip
    assert some.code == 0, some.err
    good, bad = some.record["configurations"]
    assert good["failure"] is None and good["runs_counted"] == 2
    assert bad["failure"] and bad["runs_counted"] == 0


def refused(finished: Finished, *said: str) -> None:
    assert finished.code == 2, finished.err
    assert all(word in finished.err for word in said), finished.err
    assert "Traceback" not in finished.err and finished.out == ""


def test_bad_input_is_told_before_anything_starts(tmp_path: Path) -> None:
    broken = tmp_path / "mine.jsonl"
    broken.write_text('{"prompt": "a"}\nnonsense\n')
    refused(run("bench", "run", str(broken)), "mine.jsonl line 2 is no JSON")
    refused(run("bench", "--vary", "turbo=off,on"), "no toggle turbo", "humming, fp8_head, mtp")
    refused(run("bench", "run", "gsm8k"), "openai/gsm8k")
    refused(run("bench", "run", "-", "--rounds", "0"), "--rounds")
    refused(run("bench", "show"), "no records yet")
    refused(run("bench", "diff", "a", "b"), "no records yet")
    refused(run("bench", "export", "-o", str(tmp_path / "x.docx")), "says no format")
    refused(run("bench", "run", "--resume"), "was cut off")

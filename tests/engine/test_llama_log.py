"""What is read out of llama.cpp's log: lines as it writes them."""

from __future__ import annotations

import pytest

from spark_chat.engine import llama_log

LOAD = """0.00.021.168 I srv          init: loading model
0.00.733.380 I srv    load_model: initializing, n_slots = 1, n_ctx_slot = 2048, kv_unified = 'false'
0.00.747.718 I spec common_specu: adding speculative implementation 'ngram-mod'
0.00.747.744 I spec common_specu: - n_match=24, n_max=64, n_min=48
0.00.747.764 I srv    load_model: speculative decoding context initialized
0.00.751.948 I srv          init: init: chat template, thinking = 1""".splitlines()


def test_a_load() -> None:
    assert llama_log.speculation(LOAD) == (["ngram-mod"], True)
    assert llama_log.context(LOAD) == 2048
    assert llama_log.thinking(LOAD) is True
    assert llama_log.message(LOAD[2]) == "adding speculative implementation 'ngram-mod'"


def test_nothing_said_is_nothing_known() -> None:
    assert llama_log.speculation([]) == ([], False)
    assert llama_log.context([]) is None and llama_log.thinking([]) is None


def test_why_there_is_no_drafting() -> None:
    line = "0.01.338.056 E srv    load_model: failed to initialize speculative decoding context: no memory"
    assert "no memory" in llama_log.speculation_error([*LOAD[:2], line])
    assert llama_log.speculation_error(LOAD) == ""


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("error loading model: unknown model architecture: 'qwen9'", "load", "'qwen9'"),
        ("ggml_aligned_malloc: insufficient memory (attempted to allocate 99 MB), failed to allocate", "memory", "ran"),
        ("error loading model: tensor 'x' data is not within the file bounds, model is corrupted", "load", "cut off"),
        ("init: chat template parsing error: unexpected token", "load", "template"),
        ("something else happened", "load", "could not load"),
    ],
)
def test_each_failure_has_its_sentence(line: str, code: str, says: str) -> None:
    failure = llama_log.failure([f"0.00.055.100 E llama_model_load: {line}"], "m.gguf", "Failed to init server")
    assert failure.code == code and says in failure.what
    assert failure.remedy


def test_a_failure_without_a_line_says_what_was_raised() -> None:
    assert llama_log.failure([], "m.gguf", "Failed to init server").why == "Failed to init server"

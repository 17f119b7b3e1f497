"""What each number means: the one table behind the app's help, the README and `check`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Definition:
    """`key` is the number's name in JSON and in `AnswerNumbers`; `name` and `unit` are what a person reads."""

    key: str
    name: str
    unit: str
    text: str


DEFINITIONS: tuple[Definition, ...] = (
    Definition(
        "completion_tokens", "tokens", "tok",
        "Token ids that the engine produced for the answer, by its own count. Never chunks, words or characters.",
    ),
    Definition(
        "reasoning_tokens", "thought", "tok",
        "Those of the answer's tokens that were reasoning.",
    ),
    Definition(
        "prompt_tokens", "prompt", "tok",
        "Token ids of the whole prompt as the engine saw it, chat template and earlier turns included.",
    ),
    Definition(
        "cached_tokens", "cached", "tok",
        "Those of the prompt's tokens that the engine still held from an earlier turn and did not compute again.",
    ),
    Definition(
        "waited_s", "waited", "s",
        "From sending the prompt to asking the engine: the time in the queue or until the engine was up. "
        "Not part of TTFT.",
    ),
    Definition(
        "ttft_s", "TTFT", "s",
        "Time to first token: from the moment the engine is asked to the first chunk that holds a token.",
    ),
    Definition(
        "prefill_tok_s", "prefill", "tok/s",
        "Prompt tokens that had to be computed (cached ones left out), divided by the engine's own prefill time, "
        "or by TTFT where the engine tells none. None under 16 such tokens: too few to tell a rate from.",
    ),
    Definition(
        "decode_tok_s", "decode", "tok/s",
        "(tokens - tokens in the first chunk) / (time of the last chunk - time of the first chunk). "
        "None under two chunks.",
    ),
    Definition(
        "live_tok_s", "live", "tok/s",
        "The same over the last second: tokens that came since the newest chunk that is at least 1 s old, divided by "
        "the time since then.",
    ),
    Definition(
        "tpot_ms", "TPOT", "ms",
        "Time per output token: 1000 / decode tok/s. None under two chunks.",
    ),
    Definition(
        "latency_s", "latency", "s",
        "From the moment the engine is asked to the last token.",
    ),
    Definition(
        "accept_length", "accept", "tok/step",
        "Accept length: (tokens - tokens that the prefill gave, normally 1) / verify steps. Tokens cut off by a stop "
        "or by max_tokens are not counted. On llama.cpp a step without a draft is a step, so an answer without any "
        "draft has 1.00 and its line says \"no drafts\". None without speculation. An engine's own figure may count "
        "otherwise (SGLang's spec_accept_length counts the prefill's token); it "
        "stands beside this one in the proof.",
    ),
    Definition(
        "live_accept_length", "live accept", "tok/step",
        "Accept length over the same last second as live tok/s.",
    ),
    Definition(
        "verify_steps", "steps", "steps",
        "Verify steps: runs of the model after the prefill, over the answer. Each checks the drafts that it was given; "
        "on llama.cpp a step without a draft is a step. None without speculation.",
    ),
    Definition(
        "accepted_drafts", "accepted", "tok",
        "Draft tokens that the model agreed with, over the answer.",
    ),
    Definition(
        "proposed_drafts", "proposed", "tok",
        "Draft tokens that were put before the model, over the answer.",
    ),
    Definition(
        "draft_length", "draft length", "tok",
        "Draft tokens a verify step in use now.",
    ),
    Definition(
        "context_used", "context", "tok",
        "Prompt and answer of the last turn together, against the context size.",
    ),
    Definition(
        "memory_bytes", "memory", "GiB",
        "Resident memory of the engine's worker and its children; the GPU's beside it where it can be read.",
    ),
    Definition(
        "cold", "cold", "",
        "One of the first turns after a start, which are not yet at full speed: 1 on llama.cpp, 8 on SGLang.",
    ),
)  # fmt: skip
"""In the order they are read."""

_by_key = {definition.key: definition for definition in DEFINITIONS}


def definition(key: str) -> Definition:
    """The definition of the number called `key`. Raises KeyError."""
    return _by_key[key]


def markdown() -> str:
    """All definitions as one Markdown table."""
    lines = ["| number | unit | what it is |", "|---|---|---|"]
    lines += [f"| {item.name} | {item.unit or '-'} | {item.text} |" for item in DEFINITIONS]
    return "\n".join(lines) + "\n"

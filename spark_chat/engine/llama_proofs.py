"""Which optimizations run on llama.cpp: told from what the loaded server said and from the file, not from settings."""

from __future__ import annotations

from typing import Any

from spark_chat.engine import llama_log
from spark_chat.engine.gguf_facts import GgufFacts
from spark_chat.engine.llama_params import Plan
from spark_chat.engine.protocol import Load, Proof

_OWN_BLOCK = "draft-mtp"


def proofs(command: Load, planned: Plan, model: GgufFacts, lines: list[str], readable: bool) -> dict[str, Proof]:
    """`lines`: the load's log; `readable`: whether there is one at all."""
    tied = " (the token embedding, which this model shares with it)" if model.output_tied else ""
    return {
        "humming": Proof(
            active=False,
            reason="Humming kernels are for SGLang on an NVIDIA GPU; llama.cpp has its own.",
            facts={"quantization": model.quantization},
        ),
        "fp8_head": Proof(
            active=False,
            reason=f"On llama.cpp the output layer stays as the file has it: {model.output_type}{tied}.",
            facts={"output_layer": model.output_type, "output_tied": model.output_tied},
        ),
        "mtp": _mtp(command, planned, model, lines, readable),
    }


def _mtp(command: Load, planned: Plan, model: GgufFacts, lines: list[str], readable: bool) -> Proof:
    named, taken = llama_log.speculation(lines)
    facts: dict[str, Any] = {"implementations": named, "mtp_layers": model.mtp_layers}
    if named:
        facts["log"] = [llama_log.message(line) for line in lines if "adding speculative implementation" in line]
    kind = "MTP" if _OWN_BLOCK in named else "n-gram" if any(name.startswith("ngram") for name in named) else ""
    if kind == "n-gram":
        ngram = planned.params.speculative.ngram_mod
        facts["parameters"] = {"n_match": ngram.n_match, "n_min": ngram.n_min, "n_max": ngram.n_max}
        facts["note"] = (
            "Told from the server's log; drafts are counted once text repeats, text of earlier answers included. "
            "draft_steps does not apply."
        )
    elif kind == "MTP":
        facts["parameters"] = {"n_max": planned.params.speculative.draft.n_max}
    if not readable:
        return Proof(active=None, kind=planned.kind, reason="The engine's log could not be read.", facts=facts)
    if named and taken:
        return Proof(active=True, awaits_draft=True, kind=kind or ", ".join(named), facts=facts)
    if not command.optimizations.get("mtp", False):
        return Proof(active=False, reason="It was not asked for, and the server set up no drafting.", facts=facts)
    why = llama_log.speculation_error(lines) or "the server's log names no drafting"
    return Proof(active=False, kind=planned.kind, reason=f"llama.cpp did not set up drafting: {why}.", facts=facts)

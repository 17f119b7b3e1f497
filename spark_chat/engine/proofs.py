"""From what SGLang's scheduler reported to a proof for each optimization, with a sentence.

Pure: the report in, proofs out. A report that is missing, a hook that did not take, a name that does not match is
a failed proof, never silence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spark_chat.engine.protocol import Proof

HUMMING_METHOD = "Mxfp4HummingMoEMethod"
HUMMING_RUNNER = "HummingRunnerCore"
HEAD_METHOD = "SparkChatFp8HeadMethod"

NO_REPORT = (
    "SGLang's scheduler gave no report: spark-chat's plugin did not load there. Its entry point needs spark-chat "
    "installed beside SGLang, and SGLANG_PLUGINS, if set, must name spark_chat."
)


def proofs(report: Mapping[str, Any] | None, wanted: Mapping[str, bool]) -> dict[str, Proof]:
    """By optimization. `report` is the scheduler's, None where it has none."""
    broken = _broken(report)
    if report is None or broken:
        return {name: Proof(active=None, reason=broken) for name in ("humming", "fp8_head", "mtp")}
    return {
        "humming": humming(report, wanted.get("humming", False)),
        "fp8_head": fp8_head(report, wanted.get("fp8_head", False)),
        "mtp": mtp(report, wanted.get("mtp", False)),
    }


def _broken(report: Mapping[str, Any] | None) -> str:
    if not report:
        return NO_REPORT
    if report.get("error"):
        return f"SGLang's scheduler could not report what it runs: {report['error']}."
    return str(report.get("refused") or "")


def _hook(report: Mapping[str, Any], name: str) -> str:
    """Why the hook did not work, or "" where it did."""
    hook = report.get("hooks", {}).get(name)
    if hook is None:
        return f"the hook “{name}” was not registered"
    if not hook.get("applied"):
        return f"the hook “{name}” could not be applied to {hook.get('target')}"
    if not hook.get("calls"):
        return f"the hook “{name}” was never called"
    return ""


def _clamped(layer: Mapping[str, Any]) -> bool:
    return layer.get("clamp") is not None


def humming(report: Mapping[str, Any], wanted: bool) -> Proof:
    """Every layer of experts, target and draft, has Humming's method and runner, and its clamp where it has one."""
    layers: Sequence[Mapping[str, Any]] = report.get("experts", [])
    draft: Sequence[Mapping[str, Any]] = (report.get("draft") or {}).get("experts", [])
    if not layers:
        return Proof(
            active=False, unavailable=True,
            reason="This model has no mixture of experts, so there is nothing for Humming to run.",
        )  # fmt: skip
    runs = [layer for layer in layers if _is_humming(layer)]
    clamps = [layer["clamp"] for layer in layers if _clamped(layer)]
    facts: dict[str, Any] = {
        "expert_layers": len(layers),
        "humming_layers": len(runs),
        "draft_expert_layers": len(draft),
        "method": sorted({str(layer["method"]) for layer in layers}),
        "runner": sorted({str(layer["runner"]) for layer in layers}),
        "clamped_layers": len(clamps),
        "clamp": sorted(set(clamps)),
    }
    if not runs:
        methods = ", ".join(facts["method"])
        if wanted and not any("Mxfp4" in str(layer["method"]) or "humming" in str(layer["backend"]).lower()
                              for layer in layers):  # fmt: skip
            return Proof(
                active=False, unavailable=True, facts=facts,
                reason=f"This model's experts are not MXFP4, so SGLang runs them with {methods}.",
            )  # fmt: skip
        return Proof(
            active=False, facts=facts,
            reason=f"The {len(layers)} expert layers run with {methods}{_marlin_clamp(report, layers, clamps)}.",
        )  # fmt: skip
    if len(runs) < len(layers):
        return Proof(
            active=False, facts=facts, reason=f"Only {len(runs)} of {len(layers)} expert layers run with Humming."
        )
    if clamps:
        problem = _hook(report, "humming clamp")
        if problem:
            return Proof(
                active=False, facts=facts,
                reason=f"Humming runs, but without the model's SwiGLU clamp on {len(clamps)} layers: {problem}. "
                "Its text is then not the model's.",
            )  # fmt: skip
    clamp = f", the SwiGLU clamp honoured on {len(clamps)} of them" if clamps else ""
    return Proof(
        active=True, facts=facts, reason=f"{len(runs)} of {len(layers)} expert layers run with Humming{clamp}."
    )


def _marlin_clamp(report: Mapping[str, Any], layers: Sequence[Mapping[str, Any]], clamps: Sequence[float]) -> str:
    """What becomes of the model's clamp where Marlin runs its experts; other kernels honour it by themselves."""
    if not clamps or not any(layer.get("backend") == "marlin" for layer in layers):
        return ""
    problem = _hook(report, "marlin clamp")
    if problem:
        return f", and without the model's SwiGLU clamp on {len(clamps)} of them: {problem}"
    return f", the SwiGLU clamp honoured on {len(clamps)} of them"


def _is_humming(layer: Mapping[str, Any]) -> bool:
    return (
        layer.get("method") == HUMMING_METHOD
        and layer.get("backend") == "humming"
        and layer.get("runner") == HUMMING_RUNNER
        and bool(layer.get("prepared"))
    )


def fp8_head(report: Mapping[str, Any], wanted: bool) -> Proof:
    """The head's weights are e4m3 [V, H] with float32 scales [V], under our method."""
    head: Mapping[str, Any] = report.get("head", {})
    decision: Mapping[str, Any] = head.get("decision", {})
    facts: dict[str, Any] = {
        key: head.get(key)
        for key in ("method", "dtype", "shape", "scale_dtype", "scale_shape", "bytes", "kernel", "check_error",
                    "fp32_output")
    }  # fmt: skip
    facts |= {key: decision[key] for key in ("bytes_before", "quantisation_error") if key in decision}
    shape = list(head.get("shape") or [])
    if head.get("dtype") == "float8_e4m3fn":
        right = (
            head.get("method") == HEAD_METHOD
            and head.get("scale_dtype") == "float32"
            and len(shape) == 2
            and list(head.get("scale_shape") or []) == shape[:1]
        )
        if not right:
            return Proof(active=False, facts=facts, reason="The output layer is FP8, but not with a scale per row.")
        return Proof(
            active=True, facts=facts,
            reason=f"The output layer is e4m3 with a scale per row, {head['bytes'] / 1e6:,.1f} MB; "
            f"kernel: {head.get('kernel')}.",
        )  # fmt: skip
    kind = "with 32-bit logits" if head.get("fp32_output") else "as the checkpoint has it"
    if not wanted:
        return Proof(active=False, facts=facts, reason=f"The output layer is {head.get('dtype')}, {kind}.")
    problem = _hook(report, "fp8 head")
    reason = str(decision.get("reason") or "")
    if not problem and reason:
        return Proof(active=False, unavailable=True, facts=facts, reason=reason[0].upper() + reason[1:] + ".")
    why = problem or "the hook ran and the weights were not quantised"
    return Proof(active=False, facts=facts, reason=f"The output layer is still {head.get('dtype')}: {why}.")


def mtp(report: Mapping[str, Any], wanted: bool) -> Proof:
    """A draft of the model's own, whose head is the target's, with its graphs captured."""
    draft: Mapping[str, Any] | None = report.get("draft")
    if draft is None:
        reason = "SGLang runs without a draft although one was asked for." if wanted else "No draft is loaded."
        return Proof(active=False, reason=reason)
    facts: dict[str, Any] = {
        key: draft.get(key)
        for key in ("worker", "class", "head_is_target", "head_dtype", "steps", "topk", "draft_tokens", "adaptive")
    }
    facts["graphs_s"] = {name: round(float(took), 2) for name, took in (report.get("graphs") or {}).items() if took}
    if not draft.get("class"):
        return Proof(active=False, facts=facts, reason=f"{draft.get('worker')} has no draft model.")
    # A tied head is the embedding: the draft shares its weight, and there is nothing else to share.
    if not draft.get("head_is_target") and not draft.get("tied"):
        how = "; ".join(f"{name}: {what}" for name, what in (draft.get("sharing") or {}).items())
        return Proof(
            active=False, facts=facts,
            reason="The draft does not use the target's output layer, so its drafts can't be trusted"
            + (f" ({how})." if how else "."),
        )  # fmt: skip
    steps = "adaptive" if draft.get("adaptive") else draft.get("steps")
    refused = draft.get("adaptive_refused")
    return Proof(
        active=True, kind="MTP", facts=facts,
        reason=f"{draft['class']} drafts {steps} tokens a step with the target's own output layer."
        + (f" draft_steps = auto has no effect here: {refused}." if refused else ""),
    )  # fmt: skip

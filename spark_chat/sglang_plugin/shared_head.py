"""The draft takes the target's whole head module, not only its weight tensor.

Why: SGLang 0.5.23 shares the head of a NEXTN draft by setting `draft.lm_head.weight`; a quantised head also has
scales and a method. It calls `set_lm_head_from_target` where the draft's class has it, and most classes don't. With
an FP8 head such a draft multiplies raw FP8 values: the capture of its graph dies, or drafts are never right.
How: once a draft model is loaded, the method is added to its class, where the class's own code shows that this is
sound: its forward takes `self.lm_head`, and its `set_embed_and_head` gives the draft the target's head already.
For: SGLang 0.5.23. Can go: once the draft classes have the method themselves.
"""

from __future__ import annotations

import inspect
from typing import Any

from spark_chat.sglang_plugin import hooks, switches

TARGET = "sglang.srt.model_executor.model_runner.ModelRunner.load_model"
METHOD = "set_lm_head_from_target"

decisions: dict[str, str] = {}
"""Draft class -> what was done, for the probe."""


def register() -> None:
    if switches.shared_head():
        hooks.add("shared head", TARGET, "after", _after_load)


def _after_load(_result: Any, runner: Any, *_args: Any, **_kwargs: Any) -> None:
    if getattr(runner, "is_draft_worker", False):
        decisions[type(runner.model).__name__] = teach(type(runner.model))


def teach(draft: type) -> str:
    """Give `draft` the method where it lacks it and allows it. Says what was done."""
    if hasattr(draft, METHOD):
        return "the class shares the head by itself"
    reason = unsuitable(draft)
    if reason:
        return f"not shared: {reason}"
    setattr(draft, METHOD, _set_lm_head_from_target)
    return "shared by spark-chat"


def unsuitable(draft: type) -> str | None:
    """Why the method can't be added, or None where it can."""
    if "self.lm_head" not in _source(draft, "forward"):
        return f"{draft.__name__}.forward does not use self.lm_head"
    given = _source(draft, "set_embed_and_head")
    if "lm_head.weight" not in given:
        return f"{draft.__name__} keeps a head of its own"
    return None


def _source(owner: type, name: str) -> str:
    try:
        return inspect.getsource(inspect.unwrap(getattr(owner, name)))
    except (AttributeError, OSError, TypeError):
        return ""


def _set_lm_head_from_target(self: Any, target_lm_head: Any) -> None:
    if getattr(getattr(self, "config", None), "tie_word_embeddings", False):
        return
    del self.lm_head
    self.lm_head = target_lm_head

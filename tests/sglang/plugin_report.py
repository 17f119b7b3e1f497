"""In a process of its own: what the plugin registers.   usage: ... plugin_report [VERSION|drafts|drafted]"""

from __future__ import annotations

import importlib
import inspect
import json
import logging
import re
import sys
from typing import Any

DRAFTS = {
    "bailing_moe_nextn": "BailingMoeForCausalLMNextN", "deepseek_nextn": "DeepseekV3ForCausalLMNextN",
    "glm4_moe_nextn": "Glm4MoeForCausalLMNextN", "nemotron_h_mtp": "NemotronHForCausalLMMTP",
    "mimo_mtp": "MiMoMTP", "ernie4_eagle": "Ernie4_5_MoeForCausalLMMTP",
}  # fmt: skip


class Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def unknown() -> list[str]:
    """Architectures of DRAFTED whose draft SGLang does not name where it looks for one."""
    from sglang.srt.configs import model_config

    from spark_chat.recipe.sglang_profile import DRAFTED

    source = inspect.getsource(model_config.ModelConfig._config_draft_model)
    known = set(re.findall(r'"(\w+)"', source)) | set(model_config.MIMO_V2_MODEL_ARCHS)
    return sorted(DRAFTED - known)


def main() -> None:
    if sys.argv[1:] == ["drafted"]:
        print("RESULT " + json.dumps({"unknown": unknown()}))
        return
    from spark_chat.sglang_plugin import hooks, shared_head, version

    asked = sys.argv[1] if len(sys.argv) > 1 else ""
    kept = Kept()
    logging.getLogger("spark_chat.sglang_plugin").addHandler(kept)
    if asked and asked != "drafts":
        version.installed = lambda: asked
    from sglang.srt.plugins import load_plugins

    load_plugins()
    found: dict[str, Any] = {"hooks": hooks.report(), "refused": version.refusal(), "logged": bool(kept.lines)}
    if asked == "drafts":
        found["drafts"] = {}
        for module, name in DRAFTS.items():
            draft = getattr(importlib.import_module(f"sglang.srt.models.{module}"), name)
            found["drafts"][f"{module}.{name}"] = shared_head.teach(draft)
    print("RESULT " + json.dumps(found))


if __name__ == "__main__":
    main()

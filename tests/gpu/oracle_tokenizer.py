"""A tokenizer for the oracle: every id a word of its own, so that the whole app can chat with it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.gpu.oracle_text import ASSISTANT, END_THINK, SPECIAL, THINK, UNKNOWN, USER, word

END = "<|role_end|>"
TEMPLATE = (
    "{% for message in messages %}" + SPECIAL[USER] + " {{ message['content'] }} " + END + " {% endfor %}"
    "{% if add_generation_prompt %}" + SPECIAL[ASSISTANT] + "{% if enable_thinking %} " + SPECIAL[THINK]
    + "{% endif %}{% endif %}"
)  # fmt: skip


def write(folder: Path, vocabulary: int, eos: int) -> None:
    """tokenizer.json, tokenizer_config.json and generation_config.json. Words that are none of its own are <unk>."""
    names = {token: word(token) for token in range(vocabulary)} | {eos: END}
    assert len(set(names.values())) == vocabulary
    added = [
        {"id": token, "content": names[token], "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": token not in (THINK, END_THINK)}
        for token in (UNKNOWN, USER, ASSISTANT, THINK, END_THINK, eos)
    ]  # fmt: skip
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None,
        "model": {"type": "WordLevel", "vocab": {name: token for token, name in names.items()},
                  "unk_token": SPECIAL[UNKNOWN]},
    }  # fmt: skip
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast", "unk_token": SPECIAL[UNKNOWN], "eos_token": END,
        "pad_token": END, "model_max_length": 262144, "clean_up_tokenization_spaces": False,
        "chat_template": TEMPLATE,
    }  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=1))
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": eos}))

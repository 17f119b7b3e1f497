"""Which SGLang the patches were tested with. Another one is refused: its internals may have moved under the hooks."""

from __future__ import annotations

import logging
from importlib import metadata

TESTED = ("0.5.23",)

_log = logging.getLogger("spark_chat.sglang_plugin")


def installed() -> str:
    """Version of the installed SGLang, from its metadata; "" where there is none."""
    try:
        return metadata.version("sglang")
    except metadata.PackageNotFoundError:
        return ""


def refusal() -> str | None:
    """Why no patch is applied, or None where all is well. Said on the log as an error: never silent."""
    found = installed()
    if found in TESTED:
        return None
    text = (
        f"spark-chat's SGLang patches were tested with {', '.join(TESTED)} and this is SGLang {found or 'unknown'}: "
        "none was applied. Install the tested version: pip install 'sglang==" + TESTED[-1] + "'."
    )
    _log.error("%s", text)
    return text

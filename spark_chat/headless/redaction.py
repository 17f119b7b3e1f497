"""What a problem report leaves out: words of conversations, secrets, and who the person is. Pure but for `known`.

A line of a log that shares a run of some twenty characters with what was said lately is left out whole. That cannot
find a text that was never kept, so lines that look like a request are left out too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from spark_chat import ordinary

GRAM, STRIDE = 16, 8
"""A run of GRAM + STRIDE - 1 characters of a conversation holds one of the pieces that are looked for."""
SHORT = 6
"""Characters of a message that is looked for as a whole; a shorter one says nothing of anybody."""
LEFT_OUT = "[left out: it may hold words of a conversation]"
SECRET = "[secret]"

_TOKENS = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{8,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|xox[a-z]-[\w-]{8,}"
    r"|AKIA[A-Z0-9]{12,}|eyJ[\w-]{8,}\.[\w.-]{8,}|ms-[0-9a-f]{8}-[0-9a-f-]{20,})"
)
_NAMED = re.compile(
    r"(?i)([\w.-]*(?:token(?!s|iz)|secret|passw(?:or)?d|api[_-]?key|credential|authorization)[\w.-]*[\"']?\s*[=:]\s*)"
    r"(?:bearer\s+)?(?:\"[^\"]*\"|'[^']*'|[^\s,;}\])\"']+)"
)
_BEARER = re.compile(r"(?i)\bbearer\s+\S+")
_USERINFO = re.compile(r"(://)[^/\s@]+@")
_REQUEST = re.compile(
    r"(?i)GenerateReqInput|\b(?:text|prompts?|messages|content|input_ids|origin_input_text|output_text)[\"']?\s*[=:]"
    r"\s*[\"'\[{(]"
)


class Redaction:
    """`said`: texts of conversations. `secrets`: values that must not be seen. `home`, `user`, `host`: the person's."""

    def __init__(
        self, said: Iterable[str] = (), secrets: Iterable[str] = (), home: Iterable[str] = (), user: str = "",
        host: str = "",
    ) -> None:  # fmt: skip
        self._secrets = sorted({secret for secret in secrets if len(secret) >= 6}, key=len, reverse=True)
        self._home = sorted({folder.rstrip("/") for folder in home if len(folder) > 1}, key=len, reverse=True)
        self._names = [(name, mark) for name, mark in ((user, "[user]"), (host, "[host]"))
                       if len(name) > 1 and name not in ("root", "localhost")]  # fmt: skip
        self._grams: set[str] = set()
        self._whole: set[str] = set()
        for text in said:
            folded = _folded(text)
            if SHORT <= len(folded) < GRAM + STRIDE:
                self._whole.add(folded)
            self._grams.update(folded[at : at + GRAM] for at in range(0, len(folded) - GRAM + 1, STRIDE))

    def clean(self, text: str) -> str:
        """`text` without secrets, the person's name and the way to their home."""
        for secret in self._secrets:
            text = text.replace(secret, SECRET)
        text = _USERINFO.sub(rf"\1{SECRET}@", text)
        text = _NAMED.sub(rf"\1{SECRET}", text)
        text = _TOKENS.sub(SECRET, _BEARER.sub(SECRET, text))
        for folder in self._home:
            text = re.sub(re.escape(folder) + r"(?=[/\s'\":,;)\]]|$)", "~", text)
        for name, mark in self._names:
            text = re.sub(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", mark, text)
        return text

    def log_line(self, line: str) -> str:
        """A line of a log, or what stands for one that is left out."""
        folded = _folded(line)
        if _REQUEST.search(line) or any(text in folded for text in self._whole):
            return LEFT_OUT
        if self._grams and any(folded[at : at + GRAM] in self._grams for at in range(len(folded) - GRAM + 1)):
            return LEFT_OUT
        return self.clean(line)


def _folded(text: str) -> str:
    """Without what a log writes another way: case, white space, escapes of it."""
    return " ".join(re.sub(r"\\[nrt]", " ", text).split()).casefold()


def secrets(environ: Mapping[str, str], home: Path) -> list[str]:
    """Values that the environment and the hubs' own files keep secret."""
    word = re.compile(r"(?i)token|secret|passw|api_?key|credential|auth")
    found = [value for name, value in environ.items() if word.search(name) and not value.startswith("/")]
    hugging_face = Path(environ.get("HF_HOME") or home / ".cache" / "huggingface")
    files = [
        hugging_face / "token",
        home / ".huggingface" / "token",
        home / ".modelscope" / "credentials" / "git_token",
    ]
    if environ.get("HF_TOKEN_PATH"):
        files.append(Path(environ["HF_TOKEN_PATH"]))
    for file in files:
        with suppress(OSError):
            found += ordinary.read(file, 1 << 20)[:4096].decode("utf-8", "ignore").split()
    return found


def known(said: Iterable[str], environ: Mapping[str, str] = os.environ) -> Redaction:
    """The one for this person on this machine."""
    import getpass
    import platform

    home = Path(environ.get("HOME") or "/nonexistent")
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):
        user = ""
    folders = {str(home), os.path.realpath(home)}
    return Redaction(said, secrets(environ, home), folders, user, platform.node().partition(".")[0])

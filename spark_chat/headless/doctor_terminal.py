"""What the doctor says of the terminal, by what it tells of itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping

from spark_chat.headless.finding import Finding, fine, warning

NARROWEST = (40, 12)
"""Columns and rows under which the chat has no room."""


def examine(environ: Mapping[str, str]) -> Iterator[Finding]:
    yield kind(environ)
    yield colours(environ)
    yield encoding(getattr(sys.stdout, "encoding", None), environ)
    yield extent(_size())
    yield from around(environ)


def kind(environ: Mapping[str, str]) -> Finding:
    """Whether it can draw a screen."""
    term = environ.get("TERM", "")
    if term in ("", "dumb", "unknown"):
        named = f"TERM is {term}" if term else "TERM is not set"
        return warning("terminal", f"{named}: the chat can't draw here.", "Use `spark-chat --plain`, or set TERM.")
    program = environ.get("TERM_PROGRAM")
    return fine("terminal", f"{term} in {program}." if program else f"{term}.")


def colours(environ: Mapping[str, str]) -> Finding:
    """How many colours there are."""
    if environ.get("NO_COLOR"):
        return fine("colours", "NO_COLOR is set: none; badges are told apart by their marks.")
    if environ.get("COLORTERM", "").lower() in ("truecolor", "24bit"):
        return fine("colours", "16 million.")
    if "256" in environ.get("TERM", ""):
        return fine("colours", "256; set COLORTERM=truecolor where the terminal has more.")
    return fine("colours", "16, or more where the terminal does not tell; set COLORTERM=truecolor if it has them.")


def encoding(name: str | None, environ: Mapping[str, str]) -> Finding:
    """Whether text comes out as it is."""
    locale = next((environ[key] for key in ("LC_ALL", "LC_CTYPE", "LANG") if environ.get(key)), "")
    if (name or "").lower().replace("-", "") == "utf8":
        return fine("encoding", "UTF-8.")
    return warning(
        "encoding", f"{name or 'unknown'} (locale {locale or 'not set'}): marks and letters may be lost.",
        "Set LANG=C.UTF-8.",
    )  # fmt: skip


def extent(size: tuple[int, int] | None) -> Finding:
    """Whether there is room."""
    if size is None:
        return fine("size", "no terminal is attached to this command.")
    text = f"{size[0]} columns, {size[1]} rows."
    if size[0] < NARROWEST[0] or size[1] < NARROWEST[1]:
        return warning("size", text, f"The chat is drawn for {NARROWEST[0]} by {NARROWEST[1]} and more.")
    return fine("size", text)


def around(environ: Mapping[str, str]) -> Iterator[Finding]:
    """tmux and ssh, which stand between the chat and the clipboard."""
    if environ.get("TMUX"):
        yield fine("tmux", "inside it; copying needs `set -g set-clipboard on` there.")
    if environ.get("SSH_CONNECTION"):
        yield fine("ssh", "over it; copying goes through the terminal (OSC 52).")


def _size() -> tuple[int, int] | None:
    for descriptor in (1, 2, 0):
        try:
            size = os.get_terminal_size(descriptor)
        except OSError:
            continue
        return size.columns, size.lines
    return None

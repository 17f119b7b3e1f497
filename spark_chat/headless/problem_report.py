"""The problem report: what somebody who is to help must know, and nothing of what was said. `redaction` keeps it so.

In it: versions, machine, the doctor's findings, settings and where each came from, how long the last start took, the
ends of the newest logs. Left out: prompts, answers, titles, drafts, the system prompt, tokens, names, the home folder.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from spark_chat import ordinary
from spark_chat.headless.finding import Finding
from spark_chat.headless.redaction import LEFT_OUT, Redaction

if TYPE_CHECKING:
    from spark_chat.machine import Machine
    from spark_chat.settings.resolve import Resolved
    from spark_chat.settings.schema import Row

PACKAGES = (
    "spark-chat", "textual", "rich", "click", "msgspec", "platformdirs", "psutil", "tomlkit", "xllamacpp",
    "huggingface_hub", "modelscope_hub", "sglang", "torch", "triton", "flashinfer-python", "transformers",
)  # fmt: skip
VARIABLES = ("TERM", "COLORTERM", "TERM_PROGRAM", "LANG", "LC_ALL", "NO_COLOR", "CUDA_VISIBLE_DEVICES")
PERSONAL = ("sampling.system_prompt",)
"""Settings whose value is a text of the person's own."""
LOG_LINES = 150
SAID_AT_MOST = 2_000_000
"""Characters of the newest messages that the logs are held against."""


def report(
    resolved: Resolved, machine: Machine, findings: list[Finding], redaction: Redaction,
    environ: Mapping[str, str] = os.environ, logs: bool = True,
) -> str:  # fmt: skip
    """The report's text, as Markdown. Without `logs` where nothing tells which of their lines may be words of a
    conversation."""
    from spark_chat import __version__

    parts = [
        (f"# Problem report of spark-chat {__version__}", [
            "What happened, and what did you do before? (Write it here.)", "",
            "Left out: prompts, answers, titles, the system prompt, tokens, names and the way to the home folder. "
            "Read it through before you send it: a log may hold what nobody foresaw.",
        ]),
        ("## Versions", [*_versions()]),
        ("## Machine", [*_machine(machine)]),
        ("## Doctor", [item.line(max(len(one.name) for one in findings)) for item in findings]),
        ("## Settings", [*_settings(resolved)]),
        ("## Variables", [*_variables(environ)]),
        ("## Last start that came up", [*_stages()]),
    ]  # fmt: skip
    lines: list[str] = []
    for head, body in parts:
        block = body if head.startswith("# ") else ["```", *(redaction.clean(_line(line)) for line in body), "```"]
        lines += [head, "", *block, ""]
    for kind in ("app", "engine"):
        end = _log(kind, redaction) if logs else ["[left out: the history can't be read, to hold the log against it]"]
        lines += [f"## End of the {kind}'s log", "", "```", *end, "```", ""]
    return "\n".join(lines)


def said(path: Path) -> list[str] | None:
    """What was said lately: texts, reasoning, titles and drafts of the history file; empty where there is none, None
    where it can't be read. The file is only read."""
    import sqlite3

    found: list[str] = []
    if not os.path.lexists(path):
        return found
    try:
        ordinary.check(path, path)
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=2)
    except (sqlite3.Error, OSError, ValueError):
        return None
    try:
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        size = 0
        for query in (
            "SELECT title FROM conversations ORDER BY updated DESC LIMIT 1000",
            "SELECT text FROM drafts",
            "SELECT text FROM pieces",
            "SELECT reasoning FROM pieces",
            "SELECT text FROM messages ORDER BY seq DESC LIMIT 20000",
            "SELECT reasoning FROM messages ORDER BY seq DESC LIMIT 20000",
        ):
            size = 0
            for (text,) in connection.execute(query):
                found.append(text if isinstance(text, str) else str(text or ""))
                size += len(found[-1])
                if size > SAID_AT_MOST:
                    break
    except sqlite3.Error:
        return None
    finally:
        connection.close()
    return found


def _versions() -> Iterator[str]:
    yield f"Python {platform.python_version()} ({platform.python_implementation()}), {sys.executable}"
    for name in PACKAGES:
        try:
            yield f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            continue


def _machine(machine: Machine) -> Iterator[str]:
    from spark_chat.meters.units import size

    try:
        system = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        system = ""
    yield f"{system or platform.system()}, kernel {platform.release()}, {machine.architecture}"
    yield f"{machine.cpu}, {machine.cores} cores, {size(machine.memory_bytes)}"
    yield f"GPU: {machine.gpu.name if machine.gpu else 'none found'}; DGX Spark: {'yes' if machine.spark else 'no'}"


def _settings(resolved: Resolved) -> Iterator[str]:
    from spark_chat.settings.schema import rows
    from spark_chat.settings.values import literal

    yield f"file: {resolved.path or 'no place is known'}"
    for row in rows():
        if row.key.startswith("keys.") and resolved.value(row.key) == row.default:
            continue
        yield f"{row.key} = {_value(row, literal(resolved.value(row.key)), resolved)}   ({resolved.origins[row.key]})"
    for problem in resolved.problems:
        yield LEFT_OUT if problem.key in PERSONAL else f"passed over: {problem}"


def _value(row: Row, written: str, resolved: Resolved) -> str:
    found = resolved.value(row.key)
    if row.key in PERSONAL and found:
        return f"[left out: {len(str(found))} characters]"
    return written


def _variables(environ: Mapping[str, str]) -> Iterator[str]:
    from spark_chat.settings.resolve import PREFIX, variable

    hidden = {variable(key) for key in PERSONAL}
    for name in sorted(environ):
        if name in VARIABLES or name.startswith(("TEXTUAL", PREFIX, "SGLANG_")):
            yield f"{name}={'[left out]' if name in hidden else environ[name]}"
    for name in ("TMUX", "SSH_CONNECTION", "HF_TOKEN", "HF_HOME", "HF_ENDPOINT"):
        yield f"{name} is {'set' if environ.get(name) else 'not set'}"


def _stages() -> Iterator[str]:
    from spark_chat.settings.state import load_state

    state = load_state()
    if not state.engine:
        yield "none is noted"
        return
    yield f"{state.engine} with {state.model}"
    for name, seconds in state.stages.items():
        yield f"{name}: {seconds:.2f} s"


def _log(kind: str, redaction: Redaction) -> Iterator[str]:
    from spark_chat.locations import NoHome
    from spark_chat.logs.files import newest
    from spark_chat.logs.tail import Tail

    try:
        path = newest("app" if kind == "app" else "engine")
        tail = Tail(path) if path is not None else None
        lines = tail.new() + tail.rest() if tail is not None else ["there is none"]
    except (OSError, NoHome) as error:
        lines = [f"it can't be read: {error}"]
    before = ""
    for line in lines[-LOG_LINES:]:
        shown = redaction.log_line(_line(line))
        if shown != LEFT_OUT or before != LEFT_OUT:
            yield shown
        before = shown


def _line(text: str) -> str:
    """One line that ends no code block."""
    from spark_chat.settings.problem import printable

    return " ".join(printable(text).splitlines()).replace("```", "'''")

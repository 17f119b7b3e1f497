"""The command line as a whole: the options in front of every command and after it, exit codes, quiet ends."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest

from spark_chat.cli.options import overridable
from spark_chat.settings.resolve import Resolved
from spark_chat.settings.template import template
from tests.settings.command import ROOT, call, process, write


@pytest.fixture
def path(home: Path) -> Path:
    return home / "config" / "spark-chat" / "settings.toml"


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch) -> list[Resolved]:
    """Stands in for the chat: what it was given."""
    given: list[Resolved] = []
    module = ModuleType("spark_chat.tui.app")
    module.run = given.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spark_chat.tui.app", module)
    return given


def test_alone_it_opens_the_chat_with_what_was_asked_for(path: Path, chat: list[Resolved]) -> None:
    result = call("--model", "m.gguf", "--engine", "llama.cpp", "--theme", "t", "--no-history", "--set", "top_k=3")
    assert result.exit_code == 0
    (resolved,) = chat
    settings = resolved.settings
    assert (settings.engine.model, settings.engine.kind, settings.ui.theme) == ("m.gguf", "llama.cpp", "t")
    assert settings.ui.history is False and settings.sampling.top_k == 3
    assert str(resolved.origins["ui.history"]) == "--no-history"
    assert path.read_text() == template(), "the first start makes the commented file"
    assert resolved.file is not None and resolved.file.exists


def test_the_chat_opens_over_a_broken_file_with_the_problem(path: Path, chat: list[Resolved]) -> None:
    write(path, "[ui\n")
    assert call().exit_code == 0
    assert "line 1" in str(chat[0].problems[0]) and path.read_text() == "[ui\n"


def test_the_chat_opens_where_no_file_can_be_made(home: Path, chat: list[Resolved]) -> None:
    (home / "f").write_text("")
    assert call("--config", str(home / "f" / "settings.toml")).exit_code == 0
    assert len(chat[0].problems) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--set", "mtp=perhaps"), '--set: optimizations.mtp is "perhaps"; it must be true or false'),
        (("--set", "optimisations.mtp=on"), "did you mean optimizations.mtp?"),
        (("--set", "mtp"), "written as optimizations.mtp=value"),
        (("--engine", "vllm"), '--engine: engine.kind is "vllm"; it must be one of'),
        (("--config", ""), "--config is empty"),
        (("--set",), "requires an argument"),
        (("--modle", "x"), "--model"),
        (("chekc",), "There is no command chekc. Did you mean check?"),
        (("Settings",), "Did you mean settings?"),
        (("zzzz",), "There are check, "),
        (("x.gguf",), "--model x.gguf"),
        (("settings", "shwo"), "There is no command shwo. Did you mean show?"),
        (("history", "serach"), "Did you mean search?"),
        (("models", "zzzz"), "There are list, "),
        (("bench", "chat"), "bench run chat"),
        (("bench", "synthetic-1k-128", "--rounds", "2"), "bench run synthetic-1k-128 --rounds 2"),
        (("bench", "lst"), "Did you mean list?"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(
    home: Path, chat: list[Resolved], arguments: tuple[str, ...], said: str
) -> None:
    result = call(*arguments)
    assert result.exit_code == 2 and said in result.stderr and chat == []


def test_a_subcommand_takes_the_same_options_after_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Resolved] = []

    @click.command()
    @click.option("--runs", default=1)
    @overridable
    def command(resolved: Resolved, runs: int) -> int:
        seen.append(resolved)
        return runs

    module = ModuleType("spark_chat.cli.check")
    module.command = command  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spark_chat.cli.check", module)
    result = call("--set", "top_k=1", "--model", "a", "check", "--runs", "3", "--set", "top_k=2", "--model", "b")
    assert result.exit_code == 3, "a command may return its exit code"
    assert (seen[0].settings.sampling.top_k, seen[0].settings.engine.model) == (2, "b")
    assert call("check", "--set", "top_k=x").exit_code == 2


def test_ctrl_c_is_130(home: Path, chat: list[Resolved], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: Resolved) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["spark_chat.tui.app"], "run", interrupted)
    assert call().exit_code == 130


def test_help_and_version_name_everything(home: Path) -> None:
    text = call("--help").stdout
    for word in ("--config", "--set", "--model", "--engine", "--theme", "--no-history", "check", "doctor", "settings"):
        assert word in text
    assert call("--version").stdout.startswith("spark-chat")


def test_an_interrupted_editor_is_130_and_leaves_no_traceback(path: Path) -> None:
    program = (
        "import os, signal\nfrom spark_chat.cli.main import main\nimport subprocess\n"
        "subprocess.call = lambda *_: os.kill(os.getpid(), signal.SIGINT)\nmain(['settings', 'edit'])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60,
        env={**os.environ, "EDITOR": "x"},
    )  # fmt: skip
    assert ended.returncode == 130 and "Traceback" not in ended.stderr
    assert signal.getsignal(signal.SIGINT) is not None


def test_a_reader_that_leaves_is_no_error(path: Path) -> None:
    ended = subprocess.run(
        ["bash", "-c", f"{shlex.quote(sys.executable)} -m spark_chat settings show | true; echo ${{PIPESTATUS[0]}}"],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ended.stderr == ""
    assert ended.stdout.strip() in ("0", "141")


def test_exit_codes_and_streams_of_the_real_program(path: Path) -> None:
    fine = process("settings", "set", "engine.model", "é")
    assert (fine.returncode, fine.stdout) == (0, "")
    shown = process("settings", "get", "engine.model", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (shown.returncode, shown.stdout) == (0, "é\n")
    wrong = process("settings", "set", "engine.model", b"\xff")  # type: ignore[arg-type]
    assert wrong.returncode == 2 and "Traceback" not in wrong.stderr
    assert process("settings", "validate", env={**os.environ, "SPARK_CHAT__X": "1"}).returncode == 2


def test_no_home_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from spark_chat import locations

    def nowhere() -> Path:
        raise locations.NoHome("No home folder is known. Set HOME.")

    monkeypatch.setattr(locations, "config", nowhere)
    monkeypatch.delenv("SPARK_CHAT_CONFIG", raising=False)
    for arguments in (("settings", "path"), ("settings", "set", "mtp", "on"), ("settings", "edit")):
        result = call(*arguments)
        assert result.exit_code == 2 and "Set HOME" in result.stderr
    shown = call("settings", "show")
    assert shown.exit_code == 0 and "Set HOME" in shown.stderr
    assert "can't be found" in call("--config", "~nosuchuser/x", "settings", "show").stderr


def test_the_chat_alone_imports_little() -> None:
    """What stands between the command and the chat: no editing library, no engine, no subcommand."""
    program = (
        "import sys, types\nchat = types.ModuleType('spark_chat.tui.app')\nchat.run = lambda resolved: 0\n"
        "sys.modules['spark_chat.tui.app'] = chat\nfrom spark_chat.cli.main import main\n"
        "try:\n    main(['--config', '/dev/null', '--set', 'mtp=on'])\nexcept SystemExit: pass\n"
        "print(*[name for name in sys.modules if name.split('.')[0] in ('tomlkit', 'tomli_w', 'xllamacpp', 'textual')"
        " or name.startswith(('spark_chat.cli.settings', 'spark_chat.engine', 'spark_chat.driver'))])"
    )
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (ended.stdout.strip(), ended.stderr) == ("", "")

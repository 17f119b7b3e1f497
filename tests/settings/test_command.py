"""`spark-chat settings` and the options in front of every command: data on stdout, sentences on stderr, exit codes."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from spark_chat.cli.main import main
from spark_chat.cli.options import overridable
from spark_chat.settings.resolve import Resolved
from spark_chat.settings.template import template

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(home: Path) -> Path:
    return home / "config" / "spark-chat" / "settings.toml"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def call(*args: str, **options: Any) -> Result:
    result = CliRunner().invoke(main, list(args), **options)
    assert "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def process(*args: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "spark_chat", *args], cwd=ROOT, capture_output=True, text=True, timeout=60, **options
    )


# ------------------------------------------------------------------ show, get, path


def test_show_prints_each_value_and_where_it_came_from(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(path, "[sampling]\ntop_k = 5\n[engine.args]\nn = 1\n")
    monkeypatch.setenv("SPARK_CHAT__OPTIMIZATIONS__MTP", "0")
    result = call("--model", "x.gguf", "settings", "show", "--set", "engine.args.m=2")
    lines = [line.split(maxsplit=2) for line in result.stdout.splitlines()]
    assert ["sampling.top_k", "5", str(path)] in lines
    assert ["optimizations.mtp", "false", "SPARK_CHAT__OPTIMIZATIONS__MTP"] in lines
    assert ["engine.model", '"x.gguf"', "--model"] in lines
    assert ["ui.mouse", "true", "default"] in lines
    assert f"{path} (engine.args.n)" in result.stdout
    assert result.exit_code == 0 and result.stderr == ""


def test_show_as_json(path: Path) -> None:
    write(path, "[sampling]\ntop_k = 5\ntop_p = 7\n")
    result = call("settings", "show", "--json")
    shown = json.loads(result.stdout)
    assert shown["file"] == str(path)
    assert shown["settings"]["sampling.top_k"] == {
        "value": 5, "default": 20, "layer": "file", "from": str(path), "restart": False,
    }  # fmt: skip
    assert shown["settings"]["sampling.seed"]["value"] is None
    assert shown["problems"] == [line for line in result.stderr.splitlines() if line]
    assert "line 3: sampling.top_p is 7" in result.stderr


def test_get(path: Path) -> None:
    write(path, "[ui]\ntheme = 'a b'\n[engine.args]\nn = [1]\n")
    assert call("settings", "get", "ui.theme").stdout == "a b\n"
    assert call("settings", "get", "mtp").stdout == "true\n"
    assert call("settings", "get", "engine.args").stdout == "{ n = [1] }\n"
    assert call("settings", "get", "engine.args.n").stdout == "[1]\n"
    assert call("settings", "get", "sampling.seed").stdout == "\n"
    unknown = call("settings", "get", "ui.thme")
    assert (unknown.exit_code, unknown.stdout) == (2, "") and "did you mean ui.theme?" in unknown.stderr
    assert call("settings", "get", "engine.args.q").exit_code == 2


def test_path_is_the_one_that_config_names(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("settings", "path").stdout == f"{path}\n"
    monkeypatch.setenv("SPARK_CHAT_CONFIG", "/x/y.toml")
    assert call("settings", "path").stdout == "/x/y.toml\n"
    assert call("--config", "~/z.toml", "settings", "path").stdout == f"{Path.home()}/z.toml\n"


# ------------------------------------------------------------------ set, unset, validate, edit


def test_set_changes_one_line_and_unset_takes_it_back(path: Path) -> None:
    result = call("settings", "set", "mtp", "off")
    assert result.exit_code == 0 and result.stdout == ""
    assert f"optimizations.mtp is false in {path}. It takes effect at restart." in result.stderr
    assert path.read_text() == template().replace("# mtp = true\n", "# mtp = true\nmtp = false\n")
    assert "already" in call("settings", "set", "mtp", "0").stderr
    assert call("settings", "unset", "mtp").exit_code == 0
    assert path.read_text() == template()
    assert call("settings", "set", "seed", "none").exit_code == 0
    assert call("settings", "set", "engine.args.n_batch", "512").exit_code == 0
    assert "args.n_batch = 512" in path.read_text().splitlines()


def test_set_says_what_overrides_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_CHAT__SAMPLING__TOP_K", "7")
    assert "SPARK_CHAT__SAMPLING__TOP_K overrides it: 7 is in force." in call("settings", "set", "top_k", "9").stderr


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("mtp", "maybe", "true or false"),
        ("mpt", "on", "did you mean optimizations.mtp?"),
        ("temperature", "-1", "from 0 to 5"),
        ("seed", "-1", "whole number from 0"),
        ("top_k", "", "whole number"),
        ("ui.theme", b"\xff".decode("utf-8", "surrogateescape"), "no text"),
    ],
)
def test_set_of_what_does_not_fit_is_bad_input(path: Path, key: str, value: str, said: str) -> None:
    write(path, "# mine\n")
    result = call("settings", "set", key, value)
    assert result.exit_code == 2 and said in result.stderr
    assert path.read_text() == "# mine\n"


@pytest.mark.parametrize("text", ["[ui]\nmuose = true\n", "[ui\n", "[sampling]\ntop_k = 'x'\n"])
def test_an_invalid_file_is_said_and_left_alone(path: Path, text: str) -> None:
    write(path, text)
    for arguments in (("validate",), ("set", "ui.mouse", "true"), ("unset", "ui.mouse")):
        result = call("settings", *arguments)
        assert result.exit_code == 2
        assert str(path) in result.stderr and "line " in result.stderr
        assert path.read_text() == text
    assert call("settings", "show").exit_code == 0


def test_validate(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("settings", "validate").exit_code == 0
    write(path, template())
    assert call("settings", "validate").stderr == f"{path} is fine.\n"
    monkeypatch.setenv("SPARK_CHAT__UI__MOUSE", "perhaps")
    assert call("settings", "validate").exit_code == 2


def test_a_file_that_can_not_be_written_is_a_failure(path: Path) -> None:
    path.parent.parent.mkdir()
    path.parent.write_text("not a folder")
    result = call("settings", "set", "mtp", "off")
    assert result.exit_code == 1 and "could not be made" in result.stderr


def test_edit_opens_the_editor_and_checks_after(path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = home / "my editor.py"
    script.write_text("import sys\nopen(sys.argv[-1], 'a').write(sys.argv[1])\n")
    monkeypatch.setenv("EDITOR", "false")
    for added, code in (("# more\n", 0), ("muose = 1\n", 2)):
        monkeypatch.setenv("VISUAL", shlex.join([sys.executable, str(script), added]))
        assert call("settings", "edit").exit_code == code
    assert path.read_text() == template() + "# more\nmuose = 1\n"


@pytest.mark.parametrize(
    ("editor", "code", "said"),
    [("false", 1, "ended with code 1"), ("/no/such/editor -w", 1, "could not be started"), ("'", 2, "VISUAL can't be")],
)
def test_an_editor_that_fails_is_said(
    path: Path, monkeypatch: pytest.MonkeyPatch, editor: str, code: int, said: str
) -> None:
    monkeypatch.setenv("VISUAL", editor)
    result = call("settings", "edit")
    assert result.exit_code == code and said in result.stderr


def test_no_editor_at_all_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "")
    result = call("settings", "edit")
    assert result.exit_code == 2 and "Set VISUAL or EDITOR" in result.stderr


# ------------------------------------------------------------------ the command line as a whole


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
        (("zzzz",), "There are check, doctor, settings"),
        (("x.gguf",), "--model x.gguf"),
        (("settings", "shwo"), "shwo"),
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
    fine = process("settings", "set", "ui.theme", "é")
    assert (fine.returncode, fine.stdout) == (0, "")
    shown = process("settings", "get", "ui.theme", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (shown.returncode, shown.stdout) == (0, "é\n")
    wrong = process("settings", "set", "ui.theme", b"\xff")  # type: ignore[arg-type]
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

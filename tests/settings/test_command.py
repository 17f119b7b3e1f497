"""`spark-chat settings` and the options in front of every command: data on stdout, sentences on stderr, exit codes."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from spark_chat.settings.template import template
from tests.settings.command import call, write


@pytest.fixture
def path(home: Path) -> Path:
    return home / "config" / "spark-chat" / "settings.toml"


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


def test_options_may_stand_after_the_subcommand(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    for words in (("set", "--config", str(other), "mtp", "off"), ("set", "top_k", "7", "--config", str(other))):
        assert call("settings", *words).exit_code == 0
    assert call("settings", "--config", str(other), "get", "mtp").stdout == "false\n"
    assert call("settings", "get", "top_k", "--config", str(other)).stdout == "7\n"
    assert call("settings", "unset", "mtp", "--config", str(other)).exit_code == 0
    assert call("settings", "path", "--config", str(other)).stdout == f"{other}\n"
    assert call("settings", "set", "sampling.seed", "-1").exit_code == call("settings", "set", "top_p", "-1").exit_code
    assert not path.exists() or "mtp = false" not in path.read_text()


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    for words in (("show",), ("get", "mtp"), ("validate",)):
        result = call("settings", *words, "--config", str(tmp_path / "missing.toml"))
        assert "missing.toml: there is no such file; defaults are used." in result.stderr
        assert result.exit_code == (2 if words == ("validate",) else 0)
    assert list(tmp_path.glob("*.toml")) == []


def test_a_theme_that_is_nowhere_is_refused_with_those_there_are(path: Path) -> None:
    refused = call("settings", "set", "theme", "nosuch")
    assert refused.exit_code == 2 and "There is no theme nosuch" in refused.stderr and "spark-dark" in refused.stderr
    assert not path.exists()
    assert call("settings", "set", "theme", "nord").exit_code == 0
    write(path, '[ui]\ntheme = "nosuch"\n')
    checked = call("settings", "validate")
    assert checked.exit_code == 2 and f"{path}: ui.theme is nosuch" in checked.stderr and "nord" in checked.stderr
    path.with_name("themes").mkdir()
    write(path.with_name("themes") / "nosuch.toml", 'primary = "#112233"\n')
    assert call("settings", "validate").exit_code == 0


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

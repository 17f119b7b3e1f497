"""What goes into the .deb beside the wheels: man page, completion, control files. The whole is tried by clean_root."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spark_chat.cli.completion import SHELLS, script
from spark_chat.cli.main import COMMANDS
from spark_chat.settings.schema import rows
from spark_chat.tui import commands
from tests.cli.process import ROOT, run


@pytest.fixture(scope="module", autouse=True)
def packaging() -> Iterator[None]:
    """The builder's modules, importable as they are for it."""
    sys.path.insert(0, str(ROOT / "packaging" / "deb"))
    yield
    sys.path.remove(str(ROOT / "packaging" / "deb"))


def complete(monkeypatch: pytest.MonkeyPatch, *words: str) -> list[str]:
    """What bash is told for the last of `words`."""
    monkeypatch.setenv("_SPARK_CHAT_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(["spark-chat", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    done = subprocess.run(
        [sys.executable, "-c", "from spark_chat.cli.main import main; main(prog_name='spark-chat')"],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_the_man_page_has_every_command_and_option() -> None:
    import manpage

    page = manpage.page().replace(r"\-", "-")
    for name in [*COMMANDS, "settings get", "models rm"]:
        assert f".SS {name}" in page
    for option in ("--model PATH|NAME", "--include GLOB", "--fix", "--max-tokens"):
        assert option in page
    assert all(f"/{command.name}" in page for command in commands.COMMANDS)
    assert all(ord(sign) < 128 for sign in page)


def test_the_man_page_says_what_the_help_and_the_schema_say() -> None:
    import manpage

    from spark_chat.tui.screens.help import help_rows

    page = manpage.page()
    for _, lines in help_rows():
        assert all(manpage._text(text) in page for _, text in lines)
    for row in rows():
        assert f".B {manpage._text(row.key)}\n{manpage._text(row.doc)}" in page
    printed = subprocess.run([sys.executable, ROOT / "packaging" / "deb" / "manpage.py"], capture_output=True, cwd="/")
    assert printed.stdout.decode() == page


@pytest.mark.skipif(shutil.which("man") is None, reason="there is no man here")
def test_man_has_nothing_to_complain_of(tmp_path: Path) -> None:
    import manpage

    (tmp_path / "spark-chat.1").write_text(manpage.page())
    done = subprocess.run(
        ["man", "--warnings", "-l", str(tmp_path / "spark-chat.1")],
        capture_output=True, text=True, timeout=60, env={"PATH": "/usr/bin:/bin", "MANPAGER": "cat", "MANWIDTH": "200"},
        check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "warning" not in done.stderr and "max-tokens" in done.stdout


def test_completion_knows_commands_keys_and_choices(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert complete(monkeypatch, "mod") == ["models"]
    assert complete(monkeypatch, "--engine", "s") == ["sglang"]
    assert complete(monkeypatch, "settings", "get", "engine.") == [
        row.key for row in rows() if row.key.startswith("engine.")
    ]
    assert complete(monkeypatch, "--set", "optimizations.mtp=t") == ["optimizations.mtp=true"]
    assert "spark-dark" in complete(monkeypatch, "--theme", "spark")


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_takes_its_script(shell: str, tmp_path: Path) -> None:
    assert run("completion", shell).out.strip() == script(shell).strip()
    assert "spark-chat" in script(shell)
    if shutil.which(shell) is not None:
        (tmp_path / "script").write_text(script(shell))
        subprocess.run([shell, "-n", str(tmp_path / "script")], check=True, timeout=20)


def test_control_names_the_python_it_was_built_for() -> None:
    import package
    import wheels

    text = package.fields("1.2", wheels.Target("arm64", "3.12"), 1000)
    fields = dict(line.split(": ", 1) for line in text.splitlines() if re.match(r"[A-Z][\w-]*: ", line))
    assert fields["Architecture"] == "arm64" and "python3.12" in fields["Depends"].split(", ")
    assert not any(len(line) > 80 for line in text.splitlines())
    pip = " ".join(wheels.Target("arm64", "3.12").pip)
    assert "aarch64" in pip and "x86_64" not in pip and "--abi cp312" in pip


def test_licences_are_listed_and_harmless(tmp_path: Path) -> None:
    import tree

    for name, line in (("a", "License-Expression: MIT"), ("b", "Classifier: License :: OSI Approved :: BSD License"),
                       ("c", "License: \x1b[2Jevil")):  # fmt: skip
        (tmp_path / f"{name}-1.dist-info").mkdir()
        (tmp_path / f"{name}-1.dist-info" / "METADATA").write_text(f"Name: {name}\nVersion: 1\n{line}\n\nx")
    text = tree.licences(tmp_path)
    assert "a 1: MIT" in text and "b 1: BSD License" in text and "\x1b" not in text

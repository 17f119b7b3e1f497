"""`spark-chat help`: made from the tables that the chat runs on."""

from __future__ import annotations

import pytest

from spark_chat.cli.help import TOPICS
from spark_chat.settings.schema import rows
from spark_chat.tui.commands import COMMANDS
from tests.cli.process import run

pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.parametrize("topic", TOPICS)
def test_each_topic_prints_lines_that_fit(topic: str) -> None:
    done = run("help", topic)
    assert done.code == 0 and done.out.strip() and max(map(len, done.out.splitlines())) <= 100


def test_it_is_the_tables() -> None:
    assert "send what is written" in run("help", "keys").out
    said = run("help", "commands").out
    assert all(command.usage in said for command in COMMANDS)
    said = run("help", "settings").out
    assert all(row.key in said for row in rows())


def test_of_a_command_and_of_none() -> None:
    assert run("help", "doctor").out == run("doctor", "--help").out
    assert "Topics of `spark-chat help`" in run("help").out
    done = run("help", "kays")
    assert done.code == 2 and "Did you mean keys?" in done.err


@pytest.mark.parametrize("group", ["history", "settings", "models"])
def test_what_a_command_does_is_said_whole(group: str) -> None:
    said = run(group, "--help").out.split("Commands:")[1]
    assert said.count("\n  ") >= 3 and "..." not in said


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("topic", ["keys", "settings", "plain"])
def test_it_is_as_wide_as_the_terminal(topic: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = run("help", topic).out.splitlines()
    assert columns - 15 <= max(map(len, lines)) <= columns

"""The plain chat: answers on one side, words on the other, the same session and store as the screen."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import struct
import termios
from pathlib import Path

import pytest

from spark_chat.engine.protocol import Failed, Generate
from spark_chat.history.journal import Journal
from spark_chat.history.shelf import Shelf
from spark_chat.plain.deeds import Deeds
from spark_chat.plain.output import Output
from spark_chat.tui import commands
from spark_chat.tui.quitting import HINT
from tests.fakes import FakeModels, Script
from tests.plain.sitting import PATIENCE_S, sit

pytestmark = pytest.mark.usefixtures("home")

HOSTILE = ["a\x1b]52;c;aGk=\x07", "\x1b[2J", "\x9b31m", "\ud800 [/INST]", "\u202eb\r\n"]


def asked(engine: object) -> list[str]:
    return [command.messages[-1].content for command in engine.commands if isinstance(command, Generate)]  # type: ignore[attr-defined]


async def test_a_pipe_of_prompts_is_answered_in_order_with_numbers_once(tmp_path: Path) -> None:
    sitting = sit(tmp_path, script=Script(words=["Hello ", "you."], tokens=2), interactive=False)
    sitting.type('first\n"""\nsecond,\nof two lines\n"""\n')
    assert await sitting.end() == 0
    assert sitting.answers == "Hello you.\n\nHello you.\n"
    assert asked(sitting.engine) == ["first", "second,\nof two lines"]
    assert sitting.words.count("[2 tok, ") == 2 and sitting.words.count("Humming unavailable") == 1
    assert not sitting.engine.alive


async def test_all_of_the_input_may_be_one_prompt(tmp_path: Path) -> None:
    sitting = sit(tmp_path, interactive=False, whole=True)
    sitting.type("/help\n\nas text\\\n")
    assert await sitting.end() == 0
    assert asked(sitting.engine) == ["/help\n\nas text\\\n"]


async def test_what_a_model_writes_drives_no_terminal(tmp_path: Path) -> None:
    sitting = sit(tmp_path, script=Script(words=HOSTILE, tokens=len(HOSTILE)), interactive=False)
    sitting.type("go\n")
    await sitting.end()
    harmful = {char for char in sitting.answers + sitting.words if not char.isprintable() and char != "\n"}
    assert not harmful and "[/INST]" in sitting.answers


async def test_ctrl_c_stops_the_answer_keeps_what_came_and_twice_leaves(tmp_path: Path) -> None:
    sitting = sit(tmp_path, script=Script(rate=50, tokens=5000))
    sitting.type("go on\n")
    await sitting.until("one two")
    sitting.chat.interrupted()
    await sitting.until("[stopped, ")
    assert not sitting.running.done()
    sitting.chat.interrupted()
    await sitting.until("Press ctrl+c again to quit")
    await sitting.until(f"{HINT}\n> ")
    sitting.chat.interrupted()
    assert await asyncio.wait_for(sitting.running, 10) == 0
    assert sitting.answers.startswith("one two") and sitting.answers.endswith("\n")


async def test_in_a_pipe_the_second_ctrl_c_leaves(tmp_path: Path) -> None:
    sitting = sit(tmp_path, script=Script(rate=50, tokens=5000), interactive=False)
    sitting.type("one\ntwo\n")
    await sitting.until("one two")
    sitting.chat.interrupted()
    sitting.chat.interrupted()
    assert await asyncio.wait_for(sitting.running, 10) == 130
    assert not sitting.engine.alive


@pytest.mark.parametrize("leaving", ["exit", "quit", "/quit", "/bye", "/q"])
async def test_leaving(tmp_path: Path, leaving: str) -> None:
    sitting = sit(tmp_path)
    await sitting.until("> ")
    sitting.type(f"{leaving}\n")
    assert await asyncio.wait_for(sitting.running, 10) == await sitting.end() == 0
    assert asked(sitting.engine) == []
    assert sitting.words.count("> ") == 1, "nobody is asked for more"


async def test_commands_of_the_one_table(tmp_path: Path) -> None:
    sitting = sit(tmp_path, script=Script(words=["yes"], tokens=1, reasoning=["hm, ", "well"]))
    sitting.type("/nonsense\n /etc is a folder\n/fold\n/think off\n/theme\n/check\n/help\n")
    await sitting.until("/clear-queue")
    assert await sitting.end() == 0
    assert "There is no command /nonsense." in sitting.words and asked(sitting.engine) == [" /etc is a folder"]
    assert "answers without reasoning" in sitting.words
    assert "panel" not in sitting.words and "up key" not in sitting.words, "words of the screen"
    assert "/theme is for the screen" in sitting.words and "spark-chat check FILE" in sitting.words


async def test_every_command_of_the_table_does_something_or_says_where(tmp_path: Path) -> None:
    sitting = sit(tmp_path)
    here = {command.name for command in Deeds.known()}
    elsewhere = [command.name for command in commands.COMMANDS if command.name not in here]
    assert set(elsewhere) == {"settings", "check", "compare", "chart", "panel", "theme", "setup", "tour"}
    sitting.type("".join(f"/{name}\n" for name in elsewhere))
    for name in ("chart", "panel", "theme", "tour"):
        await sitting.until(f"/{name} is for the screen: `spark-chat` without --plain has it.")
    await sitting.end()


async def test_the_reasoning_is_said_when_asked_for(tmp_path: Path) -> None:
    sitting = sit(tmp_path, script=Script(words=["yes"], tokens=1, reasoning=["hm, ", "well"]))
    sitting.type("why\n")
    await sitting.until("[reasoned ")
    assert " 2 tok, " in sitting.words
    assert "hm, well" not in sitting.answers + sitting.words
    sitting.type("/fold\n")
    await sitting.until("hm, well")
    await sitting.end()


async def test_what_was_said_is_kept_and_can_be_gone_on_with(tmp_path: Path) -> None:
    history = tmp_path / "history.sqlite3"
    first = sit(tmp_path, interactive=False, history=history)
    first.type("remember me\n")
    assert await first.end() == 0
    journal = Journal(history)
    page = await journal.committed(Shelf(journal).page(0, 5))
    assert page is not None
    (listed,) = page.rows
    assert listed.title == "remember me"
    kept = await journal.committed(journal.load(listed.conversation))
    assert kept is not None and [item.state for item in kept.messages] == ["done", "done"]
    assert kept.messages[1].numbers["tokens"] == 8
    journal.close()
    second = sit(tmp_path, history=history)
    second.type("/resume\n")
    await second.until("1. remember me")
    for number in ("0", "9" * 5000, "²"):
        second.type(f"/resume {number}\n")
        await second.until(f"There is no {number} in the list")
    second.type("/resume 1\n")
    await second.until("Going on with: remember me (1 prompt)")
    second.type("and?\n")
    await second.until("8 tok")
    await second.end()
    sent = [command for command in second.engine.commands if isinstance(command, Generate)][-1].messages
    assert [turn.content for turn in sent if turn.role == "user"] == ["remember me", "and?"]


async def test_an_engine_that_does_not_start_ends_a_pipe_with_why(tmp_path: Path) -> None:
    sitting = sit(tmp_path, script=Script(start_failure="The weights are torn."), interactive=False)
    sitting.type("one\ntwo\n")
    assert await sitting.end() == 1
    assert "The weights are torn. Try another." in sitting.words and "the last line of the log" in sitting.words
    assert sitting.answers == ""


async def test_a_person_may_start_it_again(tmp_path: Path) -> None:
    script = Script(start_failure="The weights are torn.")
    sitting = sit(tmp_path, script=script)
    sitting.type("one\n")
    await sitting.until("/restart starts it again")
    script.start_failure = ""
    sitting.type("/restart\n")
    await sitting.until("8 tok")
    assert await sitting.end() == 0
    assert asked(sitting.engine) == ["one"]


async def test_a_download_is_asked_for(tmp_path: Path) -> None:
    sitting = sit(tmp_path, models=FakeModels(size=60_000_000_000))
    sitting.type("hello\n")
    await sitting.until("/go fetches it")
    sitting.type("/go\n")
    await sitting.until("8 tok")
    assert await sitting.end() == 0


async def test_an_engine_that_dies_ends_a_pipe(tmp_path: Path) -> None:
    sitting = sit(tmp_path, script=Script(dies_after=3), interactive=False)
    sitting.type("one\ntwo\nthree\n")
    assert await sitting.end() == 1
    assert sitting.answers == "one two three \n" and "SIGKILL" in sitting.words


async def test_a_thought_without_a_begin_is_told_where_it_ends_and_can_be_printed(tmp_path: Path) -> None:
    sitting = sit(tmp_path, script=Script(unmarked=3))
    sitting.type("go\n")
    await sitting.until("reasoned", 2)
    assert sitting.answers.startswith("one two three \n") and "four five six seven eight." in sitting.answers
    assert "so far it reasoned; the answer follows" in sitting.words
    exchange = sitting.chat.session.conversation.exchanges[0]
    assert str(exchange.reasoning) == "one two three " and str(exchange.answer).startswith("four ")
    sitting.type("/quit\n")
    assert await sitting.end() == 0


async def test_a_prompt_that_is_too_long_is_said_and_passed_over(tmp_path: Path) -> None:
    script = Script(
        fails=Failed(code="overflow", what="Too long.", facts={"prompt_tokens": 3000, "context": 2048}, time=0)
    )
    sitting = sit(tmp_path, script=script, interactive=False)
    sitting.type("a long one\n")
    await sitting.until("952 too many")
    script.fails = None
    sitting.type("a short one\n")
    assert await sitting.end() == 1
    assert sitting.answers.startswith("one two")


async def test_an_answer_that_was_cut_off_goes_on_and_a_prompt_is_asked_again(tmp_path: Path) -> None:
    sitting = sit(tmp_path, "sampling.max_tokens=3", history=tmp_path / "history.sqlite3")
    sitting.type("/again\n/more\n/title x\nhello\n")
    await sitting.until("cut at max tokens")
    assert "no prompt here yet" in sitting.words and "no answer here yet" in sitting.words
    sitting.type("/more\n")
    await sitting.until("cut at max tokens", 2)
    sitting.type("/again\n/title a name\n")
    await sitting.until("cut at max tokens", 3)
    await sitting.until("It is called a name.")
    await sitting.end()
    assert asked(sitting.engine)[0] == "hello" and len(asked(sitting.engine)) == 3


async def test_a_conversation_is_written_to_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    sitting = sit(tmp_path, history=tmp_path / "history.sqlite3")
    sitting.type("/export\n")
    await sitting.until("nothing in this conversation yet")
    sitting.type("remember me\n")
    await sitting.until("8 tok")
    sitting.type("/export\n/export json talk.json\n/export talk.json\n/export md /nowhere/x.md\n")
    await sitting.until("could not be written")
    assert await sitting.end() == 0
    assert f"Written to {tmp_path}/work/remember-me.md." in sitting.words and "is there already" in sitting.words
    assert "one two three" in (tmp_path / "work" / "remember-me.md").read_text()
    answer = json.loads((tmp_path / "work" / "talk.json").read_text())["conversations"][0]["messages"][1]
    assert answer["numbers"]["tokens"] == 8 and answer["settings"]["sampling.temperature"] == 0.6
    assert answer["settings"]["model"] == "small.gguf" and answer["settings"]["engine"] == "llama.cpp 1.0"


@pytest.mark.parametrize("columns", [20, 47])
def test_on_a_terminal_lines_break_between_words(columns: int) -> None:
    sentence = "A line is a prompt, and a backslash at its end makes one of several lines."
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    output = Output(lambda error: None, answers=theirs, words=theirs)
    output.say(sentence)
    assert output.close(PATIENCE_S)
    lines = os.read(ours, 10_000).decode().split("\r\n")[:-1]
    assert " ".join(lines) == sentence and len(lines) > 1 and max(map(len, lines)) <= columns
    os.close(ours)
    os.close(theirs)

"""Saved prompts as files: ours, one's own, broken ones, and a new one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat import locations
from spark_chat.prompts.library import NotSaved, load, save
from spark_chat.prompts.prompt import BadPrompt, parse


def own(name: str, content: str | bytes, kind: str = "prompt") -> Path:
    folder = locations.own_prompts(kind)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_ours_can_all_be_used_and_say_what_they_are(home: Path) -> None:
    found = load()
    assert found.problems == ()
    assert {"translate", "review", "explain"} <= set(found.prompts) and {"brief", "tutor"} <= set(found.systems)
    assert all(item.description for item in [*found.prompts.values(), *found.systems.values()])
    assert all(not item.places for item in found.systems.values())


def test_one_s_own_comes_before_ours_and_a_plain_file_will_do(home: Path) -> None:
    own("translate.md", "To Latin: {{what}}\r\n")
    own("pirate.md", "Talk like a pirate.", "system")
    found = load()
    assert found.prompts["translate"].text == "To Latin: {{what}}"
    assert found.prompts["translate"].places == ("what",)
    assert found.systems["pirate"].about == "Talk like a pirate."


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("+++\ndescription = 'x'\nHello", "no second line +++"),
        ("+++\ndescription = x\n+++\nHello", "no TOML"),
        ("+++\ndescripton = 'x'\n+++\nHello", "did you mean description?"),
        ("+++\ndescription = 3\n+++\nHello", "must be text in quotes"),
        ("+++\nvariables = 3\n+++\nHello", "must be a table of texts"),
        ("+++\n[variables]\nlang = 'x'\n+++\nHello", "variables.lang has no {{lang}}"),
        ("+++\n+++\n\n", "holds no prompt"),
        ("", "holds no prompt"),
        ("a\x1b[2Jb", "control character 0x1b"),
        (b"\xff\xfe", "not UTF-8"),
        ("x" * 70_000, "cannot be read"),
    ],
)
def test_a_broken_file_is_named_and_the_others_are_there(home: Path, content: str | bytes, says: str) -> None:
    path = own("mine.md", content)
    found = load()
    (problem,) = found.problems
    assert str(path) in problem and says in problem
    assert "mine" not in found.prompts and "translate" in found.prompts
    assert str(path) in found.missing("prompt", "mine")


def test_pipes_folders_and_odd_names_hold_nothing_up(home: Path) -> None:
    own("my prompt!.md", "x")
    os.mkfifo(locations.own_prompts("prompt") / "pipe.md")
    (locations.own_prompts("prompt") / "folder.md").mkdir()
    (locations.own_prompts("prompt") / "notes.txt").write_text("no prompt")
    assert len(load().problems) == 3


def test_without_a_home_ours_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(kind: str) -> Path:
        raise locations.NoHome("no home")

    monkeypatch.setattr(locations, "own_prompts", nowhere)
    assert "translate" in load().prompts and "Did you mean translate?" in load().missing("prompt", "translte")


def test_a_saved_prompt_is_a_file_for_oneself_that_is_never_written_over(home: Path) -> None:
    path = save("standup", "What did I do on {{day}}?")
    assert path.read_text() == "What did I do on {{day}}?\n" and path.stat().st_mode & 0o777 == 0o600
    assert load().prompts["standup"].places == ("day",)
    with pytest.raises(NotSaved, match="There is a prompt standup already"):
        save("standup", "another")
    assert path.read_text() == "What did I do on {{day}}?\n"


@pytest.mark.parametrize(
    ("name", "text"), [("", "x"), ("../x", "x"), (".x", "x"), ("a b", "x"), ("ok", " \n"), ("x", "+++")]
)
def test_what_cannot_be_saved_says_why(home: Path, name: str, text: str) -> None:
    with pytest.raises(NotSaved):
        save(name, text)
    assert not locations.own_prompts("prompt").exists()


@given(st.text(max_size=200), st.booleans())
def test_any_text_is_a_prompt_or_a_sentence(text: str, fronted: bool) -> None:
    try:
        found = parse("x", f"+++\n{text}\n+++\nHello {{{{a}}}}" if fronted else text)
    except BadPrompt as bad:
        assert str(bad)
    else:
        assert found.text.strip()

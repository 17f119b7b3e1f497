"""The Markdown of a conversation reads well, drives no terminal, and can be read back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from spark_chat.chat import exporting
from spark_chat.chat.markdown import markdown
from spark_chat.chat.markdown_reading import parse
from spark_chat.history import resume
from spark_chat.history.importing import BadDocument, take_in
from spark_chat.history.message import Conversation, Message
from spark_chat.history.store import Store
from spark_chat.text.clean import clean

pytestmark = pytest.mark.usefixtures("home")

HOSTILE = "\x1b]52;c;aGk=\x07 <!-- spark-chat answer {} --> [/INST] <script>"
TEXT = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=30),
    st.lists(st.sampled_from(["```", "~~~", "```py", "x", "", "<!-- spark-chat answer {} -->", "> q", "# h", "\\"]))
    .map("\n".join),
)  # fmt: skip


def talk(prompt: str, answer: str, reasoning: str = "", title: str = "A talk") -> Conversation:
    numbers = {"tokens": 3, "decode_tok_s": 20.0, "ttft_s": 0.5, "reasoning_tokens": 2, "finish": "stop"}
    return Conversation(
        id="c", title=title, created=10.0, updated=20.0, messages=(
            Message("p", None, "user", prompt, "", "done", created=11.0),
            Message("p.answer", "p", "assistant", answer, reasoning, "done", numbers, {"model": "Small_1"}, 12.0),
        ),
    )  # fmt: skip


def test_it_reads_well() -> None:
    text = markdown(talk("What is it?", "It is *this*.", "let me\nsee"))
    shown = [line for line in text.splitlines() if line and not line.startswith("<!--")]
    assert shown[0] == "# A talk" and shown[2].startswith("## You · 1970-01-01") and shown[3] == "What is it?"
    assert shown[4] == "## Small\\_1" and shown[5] == "It is *this*."
    assert shown[6:9] == ["Reasoning, 2 tok:", "> let me", "> see"]
    assert shown[9] == "*3 tok · 20.0 tok/s · TTFT 0.50 s · TPOT - · accept -*" and len(shown) == 10


def test_a_fence_that_was_left_open_does_not_swallow_the_rest() -> None:
    html = MarkdownIt().render(markdown(talk("code?", "```py\nx = 1", "")))
    assert "<em>3 tok" in html and html.count("<h2>") == 2
    (item,) = parse(markdown(talk("code?", "```py\nx = 1", "")))
    assert item["messages"][1]["text"] == "```py\nx = 1"


@settings(deadline=None)
@given(TEXT, TEXT, TEXT, TEXT)
@example("a", HOSTILE, HOSTILE, HOSTILE)
@example("\n", "\n\n", "\n", "")
def test_what_it_shows_comes_back(prompt: str, answer: str, reasoning: str, title: str) -> None:
    said = talk(prompt, answer, reasoning, title)
    text = markdown(said)
    assert not [char for char in text if (ord(char) < 32 and char not in "\n\t") or 0x7F <= ord(char) < 0xA0]
    (item,) = parse(text)
    assert item["conversation"]["id"] == "c" and (item["conversation"]["title"] or "") == clean(title)
    first, second = item["messages"]
    assert (first["text"], second["text"]) == (clean(prompt), clean(answer))
    assert second.get("reasoning", "") == clean(reasoning)
    assert (second["numbers"], second["settings"]) == (said.messages[1].numbers, said.messages[1].settings)


def test_one_that_is_edited_is_taken_as_it_stands_and_twice_is_once(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "one.sqlite3")
    text = markdown(talk("What is it?", "It is this.")).replace("It is this.", "It is that.\n\nIndeed.")
    assert len(take_in(store, parse(text.replace("\n", "\r\n"))).new) == 1
    found = resume.load(store, "c")
    assert found is not None and found.messages[1].text == "It is that.\n\nIndeed."
    assert found.messages[1].numbers["tokens"] == 3
    assert len(take_in(store, parse(text)).there) == 1
    assert markdown(found) == text.replace('"settings": {}', '"settings": {}')


@pytest.mark.parametrize(
    "text", ["", "# A heading", "<!-- spark-chat conversation {} -->", '<!-- spark-chat conversation {"id": 3} -->']
)
def test_any_other_markdown_is_refused(text: str) -> None:
    with pytest.raises(BadDocument):
        parse(text)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.text())
def test_a_title_makes_a_harmless_file_name(title: str) -> None:
    name = exporting.file_name(title)
    assert name and len(name) <= exporting.LONGEST_NAME and set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_files_are_for_this_user_and_nothing_is_written_over(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "one.sqlite3")
    take_in(store, parse(markdown(talk("a", "b", title="../evil name"))))
    first = exporting.to_folder(store, "c", "md", tmp_path)
    second = exporting.to_folder(store, "c", "json", tmp_path)
    third = exporting.to_folder(store, "c", "md", tmp_path)
    assert [path.name for path in (first, second, third)] == ["evil-name.md", "evil-name.json", "evil-name-2.md"]
    assert first.stat().st_mode & 0o777 == 0o600 and json.loads(second.read_text())["conversations"]

    def broken():  # type: ignore[no-untyped-def]
        yield "half"
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        exporting.to_file(broken(), tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("argument", "wanted"),
    [
        ("", ("md", "")),
        ("json", ("json", "")),
        ("md a b", ("md", "a b")),
        ("x.json", ("json", "x.json")),
        ("a b", ("md", "a b")),
    ],
)
def test_what_the_command_wishes(argument: str, wanted: tuple[str, str]) -> None:
    assert exporting.wish(argument) == wanted

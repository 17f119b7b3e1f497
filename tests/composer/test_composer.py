"""The composer under Pilot: sending, newlines, chips, recall, completion."""

from __future__ import annotations

import time

import pytest
from textual import events

from spark_chat.tui.composer import Composer
from spark_chat.tui.composer.completion import Completion
from spark_chat.tui.composer.preview import Preview
from tests.terminal.host_app import HostApp

BIG = "".join(f"line {number}\r\n" for number in range(20_000))


@pytest.fixture
async def host():
    app = HostApp()
    async with app.run_test(size=(80, 24)) as pilot:
        app.pilot = pilot
        app.composer = app.query_one(Composer)
        yield app


def sent(app):
    return [what["sent"] for what in app.heard if "sent" in what]


async def wait_for(app, seen):
    ends = time.monotonic() + 15
    while not seen():
        assert time.monotonic() < ends, "it never came"
        await app.pilot.pause()


async def paste(app, text):
    app.post_message(events.Paste(text))
    await app.pilot.pause()


async def test_enter_sends_and_empties(host):
    await host.pilot.press(*"hello", "enter")
    assert sent(host) == ["hello"]
    assert host.composer.is_empty


async def test_what_is_empty_or_blank_is_not_sent(host):
    await host.pilot.press("enter", "space", "ctrl+j", "enter")
    assert sent(host) == []
    assert host.composer.text == " \n"


@pytest.mark.parametrize("key", ["shift+enter", "ctrl+j", "alt+enter", "ctrl+enter"])
async def test_newline_keys_do_not_send(host, key):
    await host.pilot.press("a", key, "b")
    assert sent(host) == [] and host.composer.text == "a\nb"


async def test_the_prompt_grows_to_eight_rows_and_then_scrolls(host):
    assert host.composer.prompt.size.height == 1
    await host.pilot.press("a", "ctrl+j", "b", "ctrl+j", "c")
    assert host.composer.prompt.size.height == 3
    await host.pilot.press(*["ctrl+j"] * 20)
    assert host.composer.prompt.size.height == 8


async def test_a_short_paste_is_typed_in_and_does_not_send(host):
    await paste(host, "two\rlines")
    assert sent(host) == [] and host.composer.prompt.text == "two\nlines"


async def test_pastes_among_typed_text_are_sent_exactly(host):
    await host.pilot.press(*"a ")
    await paste(host, BIG)
    await host.pilot.press(*" b ")
    await paste(host, "\x1b[31m\x0b\x85\u2028\x00")
    await host.pilot.press("c")
    assert "pasted 228.9 kB · 20,000 lines" in host.composer.prompt.text
    assert host.composer.text == f"a {BIG} b \x1b[31m\x0b\x85\u2028\x00c"
    await host.pilot.press("enter")
    size = len(f"a {BIG} b \x1b[31m\x0b\x85\u2028\x00c".encode())
    assert [what["size"] for what in host.heard if "size" in what] == [size]


async def test_backspace_removes_a_chip_and_undo_brings_it_back(host):
    await host.pilot.press("x")
    await paste(host, BIG)
    await paste(host, "\x00")
    await host.pilot.press("backspace")
    assert host.composer.text == "x" + BIG
    await host.pilot.press("backspace")
    assert host.composer.text == "x"
    await host.pilot.press("ctrl+z")
    assert host.composer.text.startswith("x" + BIG)


async def test_the_cursor_steps_over_a_chip(host):
    await paste(host, BIG)
    await host.pilot.press("left", "a", "end", "b", "left", "left", "delete")
    assert host.composer.text == "ab"


async def test_a_selection_takes_a_chip_as_a_whole(host):
    await host.pilot.press(*"ab")
    await paste(host, BIG)
    await host.pilot.press(*"cd", "left", "shift+left", "shift+left")
    await host.pilot.press("ctrl+c")
    assert {"copy": BIG + "c"} in host.heard
    assert not host.composer.has_selection


async def test_a_chip_opens_and_escape_closes_it(host):
    await paste(host, BIG)
    preview = host.query_one(Preview)
    await host.pilot.press("alt+o")
    assert preview.is_open and preview.display and host.composer.prompt.has_focus
    await host.pilot.press("t", "escape")
    assert not preview.is_open and not preview.display
    assert host.composer.text == BIG + "t"


async def test_what_is_typed_at_an_open_chip_goes_to_the_prompt(host):
    await paste(host, BIG)
    await host.pilot.press("alt+o")
    host.query_one(Preview).focus()
    await host.pilot.press("pagedown")
    await wait_for(host, lambda: host.query_one(Preview).scroll_offset.y > 0)
    await host.pilot.press(*"xyz")
    await wait_for(host, lambda: host.composer.text == BIG + "xyz")
    assert host.composer.prompt.has_focus and not host.query_one(Preview).is_open


async def test_an_open_chip_scrolls_from_the_prompt(host):
    await paste(host, BIG)
    await host.pilot.press("alt+o", "pagedown")
    await wait_for(host, lambda: host.query_one(Preview).scroll_offset.y > 0)
    await host.pilot.press("pageup")
    await wait_for(host, lambda: host.query_one(Preview).scroll_offset.y == 0)


async def test_up_and_down_scroll_an_open_chip_and_recall_nothing(host):
    await host.pilot.press(*"before", "enter")
    await paste(host, BIG)
    await host.pilot.press("alt+o", "down", "down", "up")
    await wait_for(host, lambda: host.query_one(Preview).scroll_offset.y == 1)
    assert host.composer.text == BIG


async def test_a_paste_that_ends_its_line_says_that_enter_sends(host):
    hint = host.composer.query_one("#hint")
    await paste(host, "Say aaa\rSay bbb\r")
    await wait_for(host, lambda: hint.display and str(hint.visual) == "pasted: enter sends")
    assert host.composer.text == "Say aaa\nSay bbb\n" and sent(host) == []
    await host.pilot.press("x")
    await wait_for(host, lambda: not hint.display)
    await host.pilot.press("enter")
    await wait_for(host, lambda: hint.display and "enter send ·" in str(hint.visual))
    await paste(host, "one line")
    assert not hint.display


async def test_removing_a_chip_closes_its_view(host):
    await paste(host, BIG)
    await host.pilot.press("alt+o", "backspace")
    await host.pilot.pause()
    assert not host.query_one(Preview).is_open


async def test_up_and_down_recall_and_the_draft_comes_back(host):
    await host.pilot.press(*"one", "enter", *"two", "enter", *"draft")
    await host.pilot.press("up")
    assert host.composer.text == "two"
    await host.pilot.press("x", "up")
    assert host.composer.text == "one"
    await host.pilot.press("up", "down")
    assert host.composer.text == "twox"
    await host.pilot.press("down")
    assert host.composer.text == "draft"
    await host.pilot.press("down")
    assert host.composer.text == "draft"


async def test_sending_a_recalled_prompt_gives_the_draft_back(host):
    await host.pilot.press(*"one", "enter", *"draft", "up", "enter")
    assert sent(host) == ["one", "one"]
    assert host.composer.text == "draft"


async def test_up_moves_within_several_lines_before_it_recalls(host):
    await host.pilot.press(*"one", "enter", "a", "ctrl+j", "b", "up")
    assert host.composer.text == "a\nb"
    await host.pilot.press("up")
    assert host.composer.text == "one"


async def test_history_can_be_filled_with_any_text(host):
    host.composer.recall(["old", BIG])
    await host.pilot.press("up")
    assert host.composer.text == BIG
    await host.pilot.press("up")
    assert host.composer.text == "old"


async def test_a_recalled_paste_is_sent_exactly_again(host):
    await paste(host, BIG)
    await host.pilot.press("enter", "up", "enter")
    hashes = [what["sha"] for what in host.heard if "sha" in what]
    assert len(hashes) == 2 and hashes[0] == hashes[1]


async def test_a_command_is_given_and_not_sent(host):
    await host.pilot.press(*"/theme x", "enter")
    assert {"command": "theme", "argument": "x"} in host.heard and host.composer.is_empty


async def test_an_unknown_command_stays_and_says_so(host):
    await host.pilot.press(*"/hlep", "enter")
    refused = [what["refused"] for what in host.heard if "refused" in what]
    assert len(refused) == 1 and "/help" in refused[0] and host.composer.text == "/hlep"


async def test_a_pasted_command_look_alike_in_a_chip_is_text(host):
    await paste(host, "/help" + "\x00")
    await host.pilot.press("enter")
    assert sent(host) == ["/help\x00"]


async def test_tab_takes_the_completion_and_enter_is_never_taken(host):
    await host.pilot.press(*"/th")
    assert host.query_one(Completion).display
    await host.pilot.press("down", "tab")
    assert host.composer.text == "/theme "
    assert host.composer.prompt.has_focus
    await host.pilot.press("backspace", "enter")
    assert {"command": "theme", "argument": ""} in host.heard
    assert not host.query_one(Completion).display


async def test_escape_closes_the_completion_and_up_recalls_again(host):
    await host.pilot.press(*"one", "enter", *"/h", "escape")
    assert not host.query_one(Completion).display
    await host.pilot.press("up")
    assert host.composer.text == "one"


async def test_a_draft_is_restored_raw(host):
    host.composer.set_text("a\r\nb")
    assert host.composer.text == "a\r\nb"
    host.composer.set_text("plain\ndraft")
    assert host.composer.prompt.text == "plain\ndraft"


async def test_the_draft_is_told_once_for_many_keys(host):
    await host.pilot.press(*"hello")
    host.composer.flush_draft()
    await host.pilot.pause()
    host.composer.flush_draft()
    await wait_for(host, lambda: any(what.get("draft") == 5 for what in host.heard))
    assert [what["draft"] for what in host.heard if "draft" in what][-1] == 5


async def test_markup_in_the_prompt_is_text(host):
    await paste(host, "[/INST] [link=x] [/")
    await host.pilot.press("enter")
    assert sent(host) == ["[/INST] [link=x] [/"]

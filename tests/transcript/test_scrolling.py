"""What a person reads stays where it is; the end is followed until they scroll."""

from __future__ import annotations

from textual import events

from spark_chat.tui.transcript import Restored, Transcript
from tests.transcript.host import Host, conversation, screen, settle, shown


async def test_it_follows_the_end() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        app.transcript.add_answer("a", "Ling")
        for n in range(60):
            app.transcript.append("a", f"Paragraph {n}.\n\n")
            await settle(pilot)
            assert f"Paragraph {n}." in shown(app.transcript)
        assert not app.transcript.has_more_below


async def test_scrolled_up_it_stays_put_and_says_that_there_is_more() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = app.transcript
        transcript.restore(conversation(10))
        transcript.add_prompt("p", "more")
        transcript.add_answer("a", "Ling")
        transcript.append("a", "One.\n\nTwo.\n\n")
        await settle(pilot)
        transcript.action_scroll_up()
        await settle(pilot)
        before, at = screen(transcript)[:-1], transcript.scroll_y
        for n in range(40):
            transcript.append("a", f"- item {n}\n" if n % 2 else "text ")
            await settle(pilot)
            assert (screen(transcript)[:-1], transcript.scroll_y) == (before, at)
        assert transcript.has_more_below and screen(transcript)[-1].endswith("↓ more below (end)")
        transcript.action_scroll_end()
        await settle(pilot)
        assert not transcript.has_more_below and "item 39" in shown(transcript)
        transcript.append("a", "\n\nLast.\n\n")
        await settle(pilot)
        assert "Last." in shown(transcript)


async def test_scrolling_back_down_to_the_end_follows_again() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = app.transcript
        transcript.restore(conversation(5))
        transcript.add_answer("a", "Ling")
        await settle(pilot)
        transcript.action_page_up()
        transcript.action_page_down()
        await settle(pilot)
        transcript.append("a", "New.\n\n" * 30 + "Newest.")
        await settle(pilot)
        assert "Newest." in shown(transcript)


async def test_every_page_joins_the_one_before() -> None:
    """Heights above are estimates: when they turn out wrong nothing on the screen may move."""
    for size in ((80, 20), (120, 45), (45, 12)):
        app = Host()
        async with app.run_test(size=size) as pilot:
            transcript = app.transcript
            transcript.restore(conversation(40))
            await settle(pilot)
            seen = screen(transcript)
            wrong = transcript.virtual_size.height
            while transcript.scroll_y > 0:
                before = screen(transcript)
                transcript.action_page_up()
                await settle(pilot)
                page = screen(transcript)
                moved = next(n for n in range(1, size[1]) if page[n:-1] == before[: size[1] - n - 1])
                assert transcript.scroll_y == 0 or moved == size[1] - 1
                seen = page[:moved] + seen
            assert transcript.virtual_size.height != wrong, "the estimates were right: nothing was tested"
            text = "\n".join(seen)
            for turn in range(40):
                assert text.count(f"Question {turn}?") == 1, (size, turn)
                assert text.count(f"numbers of {turn}\n") + text.endswith(f"numbers of {turn}") == 1, (size, turn)


async def test_lines_up_and_down_come_back() -> None:
    app = Host()
    async with app.run_test(size=(40, 20)) as pilot:
        transcript = app.transcript
        transcript.restore(conversation(12))
        await settle(pilot)
        pages = [screen(transcript)[:-1]]
        for _ in range(90):
            transcript.action_scroll_up()
            await settle(pilot)
            page = screen(transcript)[:-1]
            assert page[1:] == pages[-1][:-1]
            pages.append(page)
        for page in reversed(pages[1:-1]):
            transcript.action_scroll_down()
            await settle(pilot)
            assert screen(transcript)[:-1][1:] == page[1:]


async def test_home_and_end_from_anywhere() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = app.transcript
        transcript.restore(conversation(200))
        await settle(pilot)
        transcript.action_scroll_home()
        await settle(pilot)
        assert "Question 0?" in screen(transcript)[0]
        transcript.scroll_to(y=transcript.max_scroll_y // 2, animate=False, force=True)
        await settle(pilot)
        assert transcript.has_more_below
        transcript.action_scroll_end()
        await settle(pilot)
        assert "numbers of 199" in shown(transcript)


async def test_the_wheel_and_the_mark_work_late_in_a_session() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = app.transcript
        for turn in range(200):
            transcript.add_prompt(f"t{turn}", f"Question {turn}?")
            transcript.add_answer(f"t{turn}", "Ling")
            transcript.append(f"t{turn}", f"Answer {turn}.\n\n" * 4)
            transcript.finish(f"t{turn}", f"numbers of {turn}")
        await settle(pilot)
        bottom = transcript.scroll_y
        wheel = {"x": 5, "y": 5, "delta_x": 0, "delta_y": 0, "button": 0, "shift": False, "meta": False, "ctrl": False}
        for _ in range(5):
            transcript.post_message(events.MouseScrollUp(transcript, **wheel))
            await settle(pilot)
        assert transcript.scroll_y < bottom and transcript.has_more_below
        transcript.action_page_up()
        await settle(pilot)
        assert "Question 19" in shown(transcript)
        await pilot.click(Transcript, offset=(70, 19))
        await settle(pilot)
        assert transcript.scroll_y == bottom


async def test_following_can_be_switched_off() -> None:
    class Still(Host):
        def compose(self):  # type: ignore[no-untyped-def]
            yield Transcript(follow=False)

    app = Still()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = app.transcript
        transcript.add_answer("a", "Ling")
        transcript.append("a", "".join(f"Paragraph {n}.\n\n" for n in range(50)))
        await settle(pilot)
        assert "Paragraph 0." in shown(transcript) and transcript.has_more_below
        transcript.action_scroll_end()
        await settle(pilot)
        assert "Paragraph 49." in shown(transcript)
        transcript.append("a", "More.\n\n" * 20)
        await settle(pilot)
        assert "Paragraph 49." in shown(transcript) and transcript.has_more_below


async def test_a_resize_keeps_what_is_read() -> None:
    app = Host()
    async with app.run_test(size=(120, 20)) as pilot:
        transcript = app.transcript
        transcript.restore(conversation(60))
        await settle(pilot)
        for _ in range(12):
            transcript.action_page_up()
            await settle(pilot)
        words = screen(transcript)[3].split()
        top = next(line.split()[0] for line in screen(transcript) if " w" in line)
        for width in (60, 200, 45, 120):
            await pilot.resize_terminal(width, 20)
            await settle(pilot)
            assert top.split(".")[0] in shown(transcript), (width, words)


async def test_it_tells_the_app_whether_there_is_more() -> None:
    told: list[bool] = []

    class Listening(Host):
        def on_view_more_below(self, message: Transcript.MoreBelow) -> None:
            told.append(message.more)

    app = Listening()
    async with app.run_test(size=(80, 20)) as pilot:
        app.transcript.restore(conversation(5))
        await settle(pilot)
        app.transcript.action_page_up()
        await settle(pilot)
        app.transcript.action_scroll_end()
        await settle(pilot)
    assert told == [True, False]


async def test_opening_a_thought_shows_it_and_closing_it_keeps_what_is_read() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = app.transcript
        transcript.restore(conversation(5))
        thought = "\n".join(f"thought {n}" for n in range(30))
        text = "\n\n".join(f"Paragraph {n}." for n in range(30))
        transcript.restore([Restored("answer", "t", text, label="Ling", reasoning=thought, note="1 s", line="end")])
        await settle(pilot)
        assert "end" in shown(transcript) and "▸ thought" not in shown(transcript)
        transcript.toggle_reasoning()
        await settle(pilot)
        assert "▾ thought 1 s" in screen(transcript)[0] and "thought 7" in shown(transcript)
        for _ in range(3):
            transcript.action_page_down()
        await settle(pilot)
        before = screen(transcript)
        assert "Paragraph 15." in shown(transcript)
        transcript.toggle_reasoning()
        await settle(pilot)
        assert screen(transcript) == before
        transcript.action_scroll_end()
        await settle(pilot)
        transcript.toggle_reasoning()
        transcript.action_scroll_end()
        await settle(pilot)
        transcript.toggle_reasoning()
        await settle(pilot)
        assert screen(transcript)[-1].strip() == "end"


async def test_an_answer_that_grows_above_what_is_read_moves_nothing() -> None:
    app = Host()
    async with app.run_test(size=(80, 20)) as pilot:
        transcript = app.transcript
        transcript.add_prompt("one", "first")
        transcript.add_answer("one", "Ling")
        transcript.append("one", "Begun.\n\n")
        for number in range(30):
            transcript.add_notice("info", f"Notice {number}.")
        await settle(pilot)
        transcript.action_page_up()
        await settle(pilot)
        before = screen(transcript)
        assert "Begun." not in shown(transcript) and transcript.has_more_below
        for number in range(20):
            transcript.append("one", f"- item {number}\n" if number % 3 else "A paragraph.\n\n")
            await settle(pilot)
            assert screen(transcript) == before
        transcript.finish("one", "the numbers")
        await settle(pilot)
        assert screen(transcript) == before

"""Whatever is done in whatever order, the screen shows a piece of what a fresh, full layout would show."""

from __future__ import annotations

import random

import pytest

from spark_chat.tui.transcript import Restored, drawing
from spark_chat.tui.transcript.answer import Answer
from spark_chat.tui.transcript.document import Document
from spark_chat.tui.transcript.entry import Entry, Notice, Prompt
from tests.transcript.host import Host, conversation, screen, settle
from tests.transcript.laid_out import PALETTE

TEXTS = [
    "words and *more* words ", "\n\n", "\n", "- item\n", "1. one\n", "```py\nx = 1\n", "```\n",
    "| a | b |\n|---|---|\n", "| 1 | 2 |\n", "> quote\n", "# Head\n", "日本語 ", "long " * 40, "[ref] and ",
    "\x1b[2J", "    code\n",
]  # fmt: skip


class Twin:
    """The same conversation, laid out from nothing and to the end."""

    def __init__(self) -> None:
        self.made: list[tuple[str, dict[str, object]]] = []

    def add(self, kind: str, **values: object) -> dict[str, object]:
        self.made.append((kind, values))
        return values

    def rows(self, width: int) -> list[str]:
        gutter = drawing.gutter_width(width)
        document = Document(PALETTE)
        document.resize(max(1, width - gutter - drawing.RIGHT), gutter == drawing.NARROW_GUTTER)
        for number, (kind, values) in enumerate(self.made):
            entry: Entry
            if kind == "prompt":
                entry = Prompt(str(number), str(values["text"]), bool(values.get("queued")))
            elif kind == "notice":
                entry = Notice(str(number), str(values["notice"]), str(values["text"]))
            else:
                entry = answer = Answer(str(number), str(values["label"]))
                answer.append(str(values["text"]), str(values["reasoning"]), "")
                if values["opened"] and values["reasoning"]:
                    answer.toggle()
                if values["done"]:
                    answer.finish("the numbers", "done", "")
            document.add(entry)
            entry.prepare(document.width, float("inf"))
            for slot in range(100_000):
                if slot >= len(entry.slots):
                    break
                entry.measure(slot, PALETTE)
            document.changed(number)
        shown = []
        for at in range(document.height):
            place = document.place(at)
            assert place is not None
            row = document.row(place)
            label = ""
            entry = document.entries[place.entry]
            above = document.labelled and place.slot is None and place.row == document.above(place.entry) - 1
            beside = not document.labelled and place.slot == 0 and place.inside == 0
            if above or beside:
                label = entry.label
            head = (
                "".join(part.text for part in drawing.label(label, entry.role, width if above else gutter, PALETTE))
                if label
                else ""
            )
            text = "" if row is None else row.text
            shown.append((head.ljust(gutter) + text).rstrip() if text or label else "")
        return shown


def is_part(lines: list[str], rows: list[str]) -> bool:
    lines = [line.split(" ↓")[0].rstrip() for line in lines]
    last = lines.pop()
    while lines and not lines[-1] and len(lines) >= len(rows):
        lines.pop()
    size = len(lines)
    return any(rows[at : at + size] == lines for at in range(max(1, len(rows) - size + 1))) and (
        not last or any(row.startswith(last) for row in rows)
    )


@pytest.mark.parametrize("seed", range(6))
async def test_any_order(seed: int) -> None:
    chance = random.Random(seed)
    twin, app = Twin(), Host()
    open_answers: list[tuple[str, dict[str, object]]] = []
    answers: list[tuple[str, dict[str, object]]] = []

    async with app.run_test(size=(80, 16)) as pilot:
        transcript = app.transcript

        def restore() -> None:
            for stored in conversation(chance.randint(1, 8), 20):
                if stored.kind == "prompt":
                    twin.add("prompt", text=stored.text)
                    transcript.restore([Restored("prompt", f"r{len(twin.made)}", stored.text)])
                else:
                    twin.add("answer", text=stored.text, label="Ling", reasoning="", opened=False, done=True)
                    transcript.restore(
                        [Restored("answer", f"r{len(twin.made)}", stored.text, "Ling", line="the numbers")]
                    )

        def prompt() -> None:
            text = chance.choice(["short", "two\nlines", "x" * 200, "\n".join("l" * n for n in range(50))])
            if text.count("\n") < 40:
                twin.add("prompt", text=text)
                transcript.add_prompt(f"p{len(twin.made)}", text)

        def answer() -> None:
            id = f"a{len(twin.made)}"
            values = twin.add("answer", text="", label="Ling", reasoning="", opened=False, done=False)
            transcript.add_answer(id, "Ling")
            open_answers.append((id, values))
            answers.append((id, values))

        def append() -> None:
            if open_answers:
                id, values = chance.choice(open_answers)
                text = "".join(chance.choice(TEXTS) for _ in range(chance.randint(1, 12)))
                values["text"] = str(values["text"]) + text
                transcript.append(id, text)

        def think() -> None:
            if open_answers and not open_answers[-1][1]["text"]:
                id, values = open_answers[-1]
                values["reasoning"] = str(values["reasoning"]) + "a thought\nof lines "
                transcript.append(id, "", "a thought\nof lines ")

        def finish() -> None:
            if open_answers:
                id, values = open_answers.pop(0)
                values["done"] = True
                transcript.finish(id, "the numbers")

        def toggle() -> None:
            with_thoughts = [(id, values) for id, values in answers if values["reasoning"]]
            if with_thoughts:
                id, values = chance.choice(with_thoughts)
                values["opened"] = not values["opened"]
                transcript.toggle_reasoning(id)

        def notice() -> None:
            twin.add("notice", notice="warning", text="A sentence. " * 9)
            transcript.add_notice("warning", "A sentence. " * 9)

        def scroll() -> None:
            chance.choice([
                transcript.action_page_up, transcript.action_page_up, transcript.action_scroll_up,
                transcript.action_page_down, transcript.action_scroll_home, transcript.action_scroll_end,
            ])()  # fmt: skip

        steps = [restore, prompt, answer, append, append, append, append, think, finish, toggle, notice, scroll, scroll]
        for number in range(50):
            if chance.random() < 0.05:
                await pilot.resize_terminal(chance.choice([30, 59, 60, 80, 140]), chance.choice([8, 16, 50]))
                await pilot.pause()
            step = chance.choice(steps)
            step()
            await settle(pilot)
            rows = twin.rows(transcript.columns)
            if not is_part(screen(transcript), rows):
                print("\n".join(screen(transcript)), "#####", "\n".join(rows), sep="\n")
                raise AssertionError((number, step.__name__, transcript.size))
        if not transcript.has_more_below and twin.made:
            assert [line for line in screen(transcript) if line][-1] == [row for row in rows if row][-1]

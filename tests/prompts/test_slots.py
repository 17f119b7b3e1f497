"""Places of a prompt, filled in within the composer's text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spark_chat.prompts.prompt import PLACE, Prompt
from spark_chat.prompts.slots import Slots, Step

TRANSLATE = Prompt("translate", "Into {{language}}: {{text}}. {{language}}!", defaults={"language": "English"})


def begun(prompt: Prompt = TRANSLATE) -> Slots:
    slots = Slots()
    slots.begin(prompt)
    return slots


def write(step: Step, text: str) -> tuple[str, int]:
    """The document with what is selected written over, and where the cursor then is."""
    return step.document[: step.start] + text + step.document[step.end :], step.start + len(text)


def test_what_is_written_goes_to_all_places_of_its_name_and_the_next_is_selected() -> None:
    slots = begun()
    step = slots.step(TRANSLATE.text, 0)
    assert step is not None and TRANSLATE.text[step.start : step.end] == "{{language}}"
    document, cursor = write(step, "German")
    step = slots.step(document, cursor)
    assert step is not None and step.document == "Into German: {{text}}. German!"
    assert step.document[step.start : step.end] == "{{text}}"
    document, cursor = write(step, "hello")
    step = slots.step(document, cursor)
    assert step == Step("Into German: hello. German!", 18, 18) and not slots.active
    assert slots.step(step.document, 18) is None


def test_a_place_that_is_passed_over_gets_what_stands_in_for_it_and_back_finds_the_one_before() -> None:
    slots = begun()
    step = slots.step(TRANSLATE.text, 0)
    assert step is not None
    step = slots.step(step.document, step.end)
    assert step is not None and step.document == "Into English: {{text}}. English!"
    prompt = Prompt("two", "{{a}} {{b}}")
    slots = begun(prompt)
    first = slots.step(prompt.text, 0)
    assert first is not None
    second = slots.step(first.document, first.end)
    assert second == Step("{{a}} {{b}}", 6, 11)
    assert slots.step("{{a}} {{b}}", 11, forward=False) == Step("{{a}} {{b}}", 0, 5)


def test_sending_fills_in_what_stands_in_and_names_what_is_left() -> None:
    slots = begun()
    assert slots.left(TRANSLATE.text) == ("text",)
    document = slots.finished(TRANSLATE.text)
    assert document == "Into English: {{text}}. English!" and slots.left(document) == ("text",)


def test_braces_that_are_no_place_of_the_prompt_stay_as_they_are() -> None:
    slots = begun(Prompt("p", "{{a}}"))
    step = slots.step("{% if x %}{{ user.name }} {{other}} {{a}}", 0)
    assert step is not None and step.document[step.start : step.end] == "{{a}}"
    assert slots.finished("{{other}} {{a}}") == "{{other}} {{a}}"


PIECES = st.lists(st.sampled_from(["{{a}}", "{{b}}", "{{ b }}", "{{c}}", "x", " ", "\n", "é😀"]), max_size=12).map(
    "".join
)
WORDS = st.text(alphabet="xyz é\n", min_size=1, max_size=5)


@given(PIECES, st.lists(WORDS, min_size=3, max_size=3), st.integers(0, 40))
def test_stepping_through_any_text_fills_in_every_place_once_and_touches_nothing_else(
    text: str, words: list[str], cursor: int
) -> None:
    names = list(dict.fromkeys(PLACE.findall(text)))
    slots = begun(Prompt("p", text))
    values: dict[str, str] = {}
    document, cursor, rounds = text, min(cursor, len(text)), 0
    while (step := slots.step(document, cursor)) is not None and step.start != step.end:
        name = PLACE.fullmatch(step.document[step.start : step.end])
        assert name is not None
        values[name[1]] = words[len(values)]
        document, cursor = write(step, values[name[1]])
        rounds += 1
        assert rounds <= len(names)
    document = step.document if step is not None else document
    assert sorted(values) == sorted(names)
    assert document == PLACE.sub(lambda found: values[found[1]], text)

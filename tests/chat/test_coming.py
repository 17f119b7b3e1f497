"""What would be sent next is what is then sent."""

from __future__ import annotations

from spark_chat.chat.coming import turns_with
from spark_chat.chat.conversation import Conversation, Exchange, Gathered, Stage


def said(conversation: Conversation, text: str, system: str = "") -> list[tuple[str, str]]:
    return [(turn.role, turn.content) for turn in turns_with(conversation, text, system)]


def then_sent(conversation: Conversation, text: str, system: str = "") -> list[tuple[str, str]]:
    exchange = conversation.add(Exchange(id="next", prompt=text))
    return [(turn.role, turn.content) for turn in conversation.turns(exchange, system)]


def test_the_first_prompt_and_the_system_prompt_before_it() -> None:
    assert said(Conversation(), "hello") == [("user", "hello")] == then_sent(Conversation(), "hello")
    assert said(Conversation(), "hello", "Be brief.") == then_sent(Conversation(), "hello", "Be brief.")


def test_answers_go_along_and_prompts_without_one_do_not() -> None:
    conversation = Conversation()
    for number, answer in enumerate(["one", "", "three", " \n"]):
        exchange = Exchange(id=str(number), prompt=f"q{number}", answer=Gathered(answer), stage=Stage.DONE)
        conversation.add(exchange)
        before = said(conversation, "next?", "sys")
        assert before[-1] == ("user", "next?")
    before = said(conversation, "next?", "sys")
    assert before == then_sent(conversation, "next?", "sys")
    assert ("assistant", "three") in before and ("user", "q1") not in before and ("user", "q3") not in before

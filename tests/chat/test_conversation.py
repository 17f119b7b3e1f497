"""What of a conversation the model is sent, and what can be left out of it."""

from hypothesis import given
from hypothesis import strategies as st

from spark_chat.chat.conversation import Conversation, Exchange, Gathered, Stage
from spark_chat.meters.numbers import AnswerNumbers


def answered(id: str, prompt: str, answer: str, reasoning: str = "") -> Exchange:
    exchange = Exchange(id=id, prompt=prompt, answer=Gathered(answer), reasoning=Gathered(reasoning))
    exchange.stage = Stage.DONE
    return exchange


def conversation(*exchanges: Exchange) -> Conversation:
    return Conversation(id="c", exchanges=list(exchanges))


def test_sends_the_system_prompt_then_the_turns_then_the_prompt() -> None:
    last = Exchange(id="b", prompt="and now?")
    talk = conversation(answered("a", "hello", "hi", "let me think"), last)
    sent = [(turn.role, turn.content) for turn in talk.turns(last, "be brief")]
    assert sent == [("system", "be brief"), ("user", "hello"), ("assistant", "hi"), ("user", "and now?")]


def test_a_blank_system_prompt_is_not_sent() -> None:
    last = Exchange(id="b", prompt="x")
    assert [turn.role for turn in conversation(last).turns(last, " \n")] == ["user"]


def test_a_prompt_without_an_answer_is_not_sent_again_and_a_partial_answer_is() -> None:
    failed = Exchange(id="a", prompt="lost", stage=Stage.FAILED)
    stopped = answered("b", "long one", "half an")
    stopped.stage = Stage.STOPPED
    last = Exchange(id="c", prompt="x")
    sent = [turn.content for turn in conversation(failed, stopped, last).turns(last)]
    assert sent == ["long one", "half an", "x"]


def test_what_waits_behind_a_prompt_is_not_sent_with_it() -> None:
    first, second = Exchange(id="a", prompt="one"), Exchange(id="b", prompt="two")
    assert [turn.content for turn in conversation(first, second).turns(first)] == ["one"]


def test_dropping_the_oldest_keeps_everything_but_sends_less() -> None:
    last = Exchange(id="d", prompt="x" * 10)
    talk = conversation(*(answered(name, name * 50, name * 50) for name in "abc"), last)
    count = talk.oldest_to_drop(last, prompt_tokens=310, context=200, room=50)
    assert count == 2
    assert talk.drop_oldest(last, count) == 2
    assert [turn.content for turn in talk.turns(last)] == ["c" * 50, "c" * 50, "x" * 10]
    assert len(talk) == 4


def test_nothing_is_dropped_for_a_prompt_that_is_too_long_by_itself() -> None:
    last = Exchange(id="b", prompt="x" * 1000)
    talk = conversation(answered("a", "a" * 50, "a" * 50), last)
    assert talk.oldest_to_drop(last, prompt_tokens=1100, context=500, room=100) == 0


@given(
    st.lists(st.tuples(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=40)), max_size=12),
    st.text(min_size=1, max_size=40),
    st.integers(1, 400),
    st.integers(0, 100),
)
def test_dropping_what_is_offered_always_leaves_the_prompt_and_the_newest(
    pairs: list[tuple[str, str]], prompt: str, excess: int, room: int
) -> None:
    last = Exchange(id="last", prompt=prompt)
    talk = conversation(*(answered(str(number), *pair) for number, pair in enumerate(pairs)), last)
    before = talk.turns(last)
    count = talk.oldest_to_drop(last, prompt_tokens=300 + excess, context=300, room=room)
    dropped = talk.drop_oldest(last, count)
    assert dropped == count <= len(before) // 2
    assert talk.turns(last) == before[2 * count :]


def test_an_end_says_whether_it_was_stopped() -> None:
    exchange = Exchange(id="a", prompt="x")
    exchange.end(AnswerNumbers(finish="abort"), None)
    assert exchange.stage is Stage.STOPPED


@given(st.lists(st.text()))
def test_gathered_text_is_all_the_pieces(pieces: list[str]) -> None:
    gathered = Gathered()
    for number, piece in enumerate(pieces):
        gathered.add(piece)
        if number % 3 == 0:
            str(gathered)
    assert str(gathered) == "".join(pieces)

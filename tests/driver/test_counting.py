"""A count through the driver: told, or absent; never left hanging when the engine goes."""

from __future__ import annotations

import asyncio

import pytest

from spark_chat.driver.counting import Counting
from spark_chat.engine.protocol import AnyCommand, Count, Counted, ProtocolError, Turn

HELLO = [Turn("user", "Hello")]


async def asked(counting: Counting, sent: list[AnyCommand]) -> tuple[asyncio.Task[Counted | None], Count]:
    task = asyncio.ensure_future(counting.count(HELLO, ["Hello"], True))
    await asyncio.sleep(0)
    command = sent.pop()
    assert isinstance(command, Count)
    return task, command


async def test_the_count_that_was_asked_for_comes_back_and_no_other() -> None:
    sent: list[AnyCommand] = []
    counting = Counting(sent.append, lambda: True)
    task, command = await asked(counting, sent)
    counting.take(Counted(id="another", prompt_tokens=1, time=0.0))
    assert not task.done()
    counting.take(Counted(id=command.id, prompt_tokens=12, text_tokens=[3], time=0.0))
    counting.take(Counted(id=command.id, prompt_tokens=99, time=0.0))
    found = await task
    assert found is not None and (found.prompt_tokens, found.text_tokens) == (12, [3])


@pytest.mark.parametrize("how", ["gone", "cannot"])
async def test_nothing_is_told_where_the_engine_goes_or_cannot_count(how: str) -> None:
    sent: list[AnyCommand] = []
    counting = Counting(sent.append, lambda: True)
    task, command = await asked(counting, sent)
    counting.stop() if how == "gone" else counting.take(Counted(id=command.id, time=0.0))
    assert await task is None


async def test_a_text_over_the_frame_s_limit_has_no_count() -> None:
    def refuse(command: AnyCommand) -> None:
        raise ProtocolError("too long")

    assert await Counting(refuse, lambda: True).count(HELLO, [], True) is None


async def test_an_engine_that_is_not_up_is_not_asked() -> None:
    sent: list[AnyCommand] = []
    assert await Counting(sent.append, lambda: False).count(HELLO, [], True) is None
    assert not sent

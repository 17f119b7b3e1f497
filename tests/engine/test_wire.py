"""Framing: any split of any frames, frames that are too long or broken, and both kinds of stream."""

from __future__ import annotations

import asyncio
import socket
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from spark_chat.engine.codec import decode_command, encode
from spark_chat.engine.protocol import AnyCommand, ProtocolError, Shutdown, Stats
from spark_chat.engine.wire import Inbox, messages

texts = st.lists(
    st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), min_size=1, max_size=9), max_size=8
)


def echo(frame: bytes) -> str:
    return frame.decode()


@given(texts, st.lists(st.integers(0, 200), max_size=30))
def test_any_split_gives_the_same_messages(frames: list[str], cuts: list[int]) -> None:
    stream = "".join(frame + "\n" for frame in frames).encode()
    inbox = Inbox(echo)
    found: list[str | ProtocolError] = []
    edges = sorted({0, len(stream), *(cut % (len(stream) + 1) for cut in cuts)})
    for start, end in pairwise(edges):
        found.extend(inbox.feed(stream[start:end]))
    assert found == frames


@given(st.integers(1, 40), st.integers(2, 40))
def test_a_frame_over_the_limit_is_told_once_and_skipped(piece: int, limit: int) -> None:
    inbox = Inbox(echo, limit)
    stream = b"x" * (limit + 100) + b"\n\n"
    found: list[str | ProtocolError] = []
    for start in range(0, len(stream), piece):
        found.extend(inbox.feed(stream[start : start + piece]))
    assert len(found) == 1 and isinstance(found[0], ProtocolError)
    assert str(limit) in str(found[0])
    assert inbox.feed(b"y\n") == ["y"]


def test_holds_no_more_than_the_limit() -> None:
    inbox = Inbox(echo, 1000)
    for _ in range(100):
        inbox.feed(b"z" * 500)
    assert inbox.held <= 1000


def test_a_broken_frame_is_a_value_and_the_next_is_read() -> None:
    inbox: Inbox[AnyCommand] = Inbox(decode_command)
    bad, good = inbox.feed(b'{"kind":"dance"}\n' + encode(Stats()))
    assert isinstance(bad, ProtocolError) and "dance" in str(bad)
    assert good == Stats()


async def test_messages_over_an_asyncio_stream() -> None:
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    theirs.sendall(encode(Stats()) + b"nonsense\n" + encode(Shutdown()))
    theirs.close()
    got = [message async for message in messages(reader, decode_command)]
    writer.close()
    assert got[0] == Stats() and isinstance(got[1], ProtocolError) and got[2] == Shutdown()

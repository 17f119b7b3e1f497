"""The door of a running engine, and hostile or clumsy visitors at it: the chat goes on whatever they do."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from spark_chat import locations
from spark_chat.engine import guests, lock, visit
from spark_chat.engine.codec import encode
from spark_chat.engine.configuration import told
from spark_chat.engine.door import Door, knock
from spark_chat.engine.lock import EngineLock
from spark_chat.engine.outbox import Outbox
from spark_chat.engine.protocol import Attach, Done, Failed, Ready
from tests import waiting
from tests.engine.lingering import FAKE, fake
from tests.engine.probe import Probe, ask


@pytest.fixture
async def chat(home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Probe]:
    """One that has an engine; who comes to its door has a second to say what it wants."""
    monkeypatch.setenv("SPARK_CHAT_TEST_HANDSHAKE_S", "1")
    async with Probe(FAKE) as probe:
        assert isinstance(await probe.start(fake(linger_s=0)), Ready)
        yield probe


async def still_fine(chat: Probe, id: str) -> None:
    _, done = await chat.answer(ask(id, "x", max_tokens=3))
    assert isinstance(done, Done) and done.finish == "stop"


def came_in() -> socket.socket:
    stream = knock(lock.folder())
    assert stream is not None
    stream.setblocking(True)
    stream.settimeout(10)
    return stream


def answered(stream: socket.socket) -> bytes:
    """What the engine says until it disconnects or falls silent with the connection open."""
    found = b""
    try:
        while data := stream.recv(65536):
            found += data
            if found.endswith(b"\n"):
                break
    except OSError:
        pass
    return found


async def test_only_this_user_gets_near_it(chat: Probe) -> None:
    folder = locations.runtime()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "engine.sock").stat().st_mode) == 0o600
    assert stat.S_IMODE((folder / "engine.lock").stat().st_mode) == 0o600


def test_another_user_is_shown_out(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    came: list[int] = []
    folder = lock.folder()
    door = Door(folder, lambda stream, pid: came.append(pid))
    door.open()
    visitor = knock(folder)
    assert visitor is not None
    mine = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: mine + 1)  # as the door sees it, whoever comes now is somebody else
    stranger = socket.socket(socket.AF_UNIX)
    stranger.connect(str(folder / "engine.sock"))
    stranger.settimeout(10)
    assert stranger.recv(1) == b"" and len(came) <= 1
    door.close()


def test_a_runtime_folder_of_somebody_else_is_not_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock.folder()
    mine = os.getuid()
    monkeypatch.setattr(lock.os, "getuid", lambda: mine + 1)
    with pytest.raises(PermissionError):
        lock.folder()
    assert lock.holder() is None


def test_a_path_that_is_too_long_for_an_address_works_too(home: Path) -> None:
    folder = home / ("long" * 30)
    folder.mkdir(mode=0o700)
    met = threading.Event()
    door = Door(folder, lambda stream, pid: met.set())
    door.open()
    assert knock(folder) is not None and met.wait(10)
    door.close()
    assert knock(folder) is None


async def test_garbage_and_half_frames(chat: Probe) -> None:
    for number, junk in enumerate([b"\x00\xff\n", b"{}\n", b'{"kind":"generate","id":"a"}\n', b'{"kind":"shutdown"}\n',
                                   b'{"kind":"attach","load":3}\n', b"[" * 100_000 + b"\n"]):  # fmt: skip
        visitor = came_in()
        visitor.sendall(junk)
        said = await asyncio.to_thread(answered, visitor)
        assert b'"refused":true' in said and b'"protocol"' in said, junk
        visitor.close()
        await still_fine(chat, f"junk-{number}")
    half = came_in()
    half.sendall(b'{"kind":"sta')
    half.close()
    await still_fine(chat, "half")


async def test_a_frame_without_end_is_not_kept(chat: Probe) -> None:
    before = psutil.Process(chat.client.pid).memory_info().rss
    visitor = came_in()
    said = b""
    try:
        for _ in range(200):
            await asyncio.to_thread(visitor.sendall, b"x" * 1_000_000)  # 200 MB
    except OSError:
        said = b"gone"
    assert psutil.Process(chat.client.pid).memory_info().rss - before < 60_000_000, said
    visitor.close()
    await still_fine(chat, "endless")


async def test_who_says_nothing_is_shown_out(chat: Probe) -> None:
    visitor = came_in()
    assert await asyncio.to_thread(visitor.recv, 1) == b""
    await still_fine(chat, "silent")


async def test_a_thousand_connections(chat: Probe) -> None:
    visitors = []
    for number in range(1000):
        stream = knock(lock.folder())
        if stream is not None:
            visitors.append(stream)
        if number % 100 == 0:
            await still_fine(chat, f"crowd-{number}")
    process = psutil.Process(chat.client.pid)
    await waiting.until(lambda: process.num_fds() < 100 and process.num_threads() < 100)
    found = await visit.standing()  # an honest one gets in between them
    assert found is not None and found.pid == chat.client.pid
    async with Probe(FAKE) as check:
        assert isinstance(await check.start(fake(linger_s=0)), Ready)
        assert check.client.pid == chat.client.pid
        await still_fine(check, "among-them")
    for stream in visitors:
        stream.close()
    await still_fine(chat, "after")


async def test_one_that_does_not_read_what_it_asked_for(chat: Probe) -> None:
    recipe = fake(linger_s=0)
    visitor = came_in()
    visitor.sendall(encode(Attach(load=told(recipe.load(), recipe.environment, FAKE, 0))))
    assert b'"ready"' in await asyncio.to_thread(answered, visitor)
    process = psutil.Process(chat.client.pid)
    before = process.memory_info().rss
    visitor.sendall(encode(ask("much", "x" * 100_000, max_tokens=3000)))  # 300 MB that nobody reads
    await still_fine(chat, "meanwhile")
    async with asyncio.timeout(20):
        while (found := await visit.standing()) is None or len(found.people) > 1:  # until it was disconnected
            pass
    assert process.memory_info().rss - before < 150_000_000
    await still_fine(chat, "after")


async def test_an_end_is_not_taken_from_one_that_is_not_let_in_by_mistake(chat: Probe) -> None:
    visitor = came_in()
    visitor.sendall(b'{"kind":"end"}\n')
    assert b'"held"' in await asyncio.to_thread(answered, visitor)
    visitor.close()
    await still_fine(chat, "on")


def test_an_outbox_sends_all_in_order_and_waits_for_nobody() -> None:
    ours, theirs = socket.socketpair()
    outbox = Outbox(ours)
    frames = [bytes([65 + number]) * 300_000 for number in range(20)]
    for frame in frames:
        outbox.put(frame)  # far more than the socket takes, and nobody reads yet
    theirs.settimeout(10)
    got = b""
    while len(got) < 6_000_000:
        got += theirs.recv(1 << 20)
    assert got == b"".join(frames)
    outbox.close()
    assert theirs.recv(1) == b"" and outbox.closed


def test_an_outbox_gives_up_on_one_that_leaves_too_much_lying() -> None:
    ours, _theirs = socket.socketpair()
    outbox = Outbox(ours, limit=1_000_000)
    for _ in range(10):
        outbox.put(b"x" * 400_000)
    assert outbox.closed
    outbox.put(b"more")  # is no error


def test_an_outbox_whose_reader_is_gone() -> None:
    ours, theirs = socket.socketpair()
    theirs.close()
    outbox = Outbox(ours)
    outbox.put(b"x")
    outbox.put(b"x")
    assert outbox.closed


async def test_one_window_more_than_there_is_room_for_is_told_so_and_the_engine_can_be_ended(
    chat: Probe, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = [came_in() for _ in range(guests.MOST - 1)]
    try:
        for stream in inside:
            stream.sendall(encode(Attach(load=told(fake(linger_s=0).load(), {}, FAKE, 0))))
            assert b'"kind":"ready"' in answered(stream)
        async with Probe(FAKE) as late:
            refused = await late.start(fake(linger_s=0))
            assert isinstance(refused, Failed) and refused.code == "held"
            assert f"{guests.MOST} use it" in refused.what and "Close one" in refused.remedy
        standing = await visit.standing()
        assert standing is not None and len(standing.people) == guests.MOST
        inside.pop().close()
        await still_fine(chat, "full")
        async with Probe(FAKE) as late:
            assert isinstance(await late.start(fake(linger_s=0)), Ready)
        refusal = await visit.stop(force=False)
        assert refusal is not None and "is used by" in refusal.what
    finally:
        for stream in inside:
            stream.close()


async def test_an_engine_that_shuts_its_door_on_everybody_ends_a_start_in_a_sentence(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spark_chat.engine.client.LOOKS", 2)
    holder = EngineLock(lock.folder())
    assert holder.take()
    door = Door(lock.folder(), lambda stream, pid: stream.close())
    door.open()
    try:
        async with Probe(FAKE) as probe:
            failed = await probe.start(fake(linger_s=0))
            assert isinstance(failed, Failed) and failed.code == "held"
            assert "lets nobody in" in failed.what and "stop --force" in failed.remedy
    finally:
        door.close()
        holder.close()

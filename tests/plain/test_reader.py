"""Whatever standard input is, its lines come one for each that is asked for."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from spark_chat.plain.reader import Reader, Refused


async def all_lines(reader: Reader) -> list[str | Refused]:
    found = []
    async with asyncio.timeout(10):
        while (line := await reader.next()) is not None:
            found.append(line)
        assert await reader.next() is None
    return found


def piped(data: bytes) -> int:
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    return reading


async def lines_of(data: bytes, longest: int = 1000, whole: bool = False) -> list[str | Refused]:
    descriptor = piped(data)
    try:
        return await all_lines(Reader(descriptor, longest, whole))
    finally:
        os.close(descriptor)


async def test_lines_of_a_pipe_with_or_without_a_last_end() -> None:
    assert await lines_of(b"one\n\ntwo\r\nthree") == ["one", "", "two", "three"]
    assert await lines_of(b"") == []


async def test_a_file_too(tmp_path: Path) -> None:
    (tmp_path / "prompts").write_text("one\ntwö\n")
    with (tmp_path / "prompts").open() as file:
        assert await all_lines(Reader(file.fileno(), 1000)) == ["one", "twö"]


async def test_the_whole_is_one_prompt_as_it_is() -> None:
    assert await lines_of(b"one\r\ntwo\n", whole=True) == ["one\r\ntwo\n"]


async def test_what_is_no_prompt_is_refused_by_its_line_and_the_rest_goes_on() -> None:
    found = await lines_of(b"one\n\xff\xfe\n" + b"x" * 2000 + b"\nfour\n")
    assert found[0] == "one" and found[3] == "four"
    assert isinstance(found[1], Refused) and "Line 2" in found[1].sentence and "UTF-8" in found[1].sentence
    assert isinstance(found[2], Refused) and "Line 3" in found[2].sentence and "1,000 bytes" in found[2].sentence


async def test_a_pipe_is_read_no_faster_than_it_is_asked_for() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    reader = Reader(reading, 1000)
    os.write(writing, b"one\n")
    assert await asyncio.wait_for(reader.next(), 10) == "one"
    written = 0
    try:
        while written < 10_000_000:
            written += os.write(writing, b"y\n" * 1000)
    except BlockingIOError:
        pass
    assert written < 1_000_000
    os.close(writing)
    assert await asyncio.wait_for(reader.next(), 10) == "y"


async def test_a_descriptor_that_does_not_wait_is_waited_for() -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    asked = asyncio.ensure_future(Reader(reading, 1000).next())
    await asyncio.sleep(0)
    os.write(writing, b"late\n")
    assert await asyncio.wait_for(asked, 10) == "late"


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=("Cs",)), max_size=20), max_size=5))
def test_lines_come_as_they_were_written(lines: list[str]) -> None:
    data = "".join(f"{line}\n" for line in lines).encode()
    assert asyncio.run(lines_of(data, longest=10_000)) == lines

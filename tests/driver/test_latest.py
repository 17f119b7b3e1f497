"""One piece of work at a time, of which only the latest counts."""

from __future__ import annotations

import asyncio

import pytest

from spark_chat.driver.latest import Latest


class Work:
    """Pieces of work that note when they begin and end; `gate` lets them through, `cleaning` lets them clean up."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.gate, self.cleaning = asyncio.Event(), asyncio.Event()
        self.cleaning.set()

    async def piece(self, name: str) -> None:
        self.log.append(f"{name} begins")
        try:
            await self.gate.wait()
            self.log.append(f"{name} ends")
        except asyncio.CancelledError:
            await self.cleaning.wait()
            self.log.append(f"{name} is called off")
            raise


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_later_one_takes_the_place_once_the_former_has_cleaned_up() -> None:
    latest, work = Latest(), Work()
    work.cleaning.clear()
    runs = [asyncio.create_task(latest.run(work.piece("a")))]
    await turns()
    runs += [asyncio.create_task(latest.run(work.piece(name))) for name in "bcd"]
    await turns()
    assert work.log == ["a begins"], "nothing begins while the former cleans up"
    work.cleaning.set()
    await turns()
    work.gate.set()
    await asyncio.gather(*runs)
    assert work.log == ["a begins", "a is called off", "d begins", "d ends"]


async def test_a_cancel_waits_for_the_clean_up_and_wins_over_those_that_wait() -> None:
    latest, work = Latest(), Work()
    work.cleaning.clear()
    runs = [asyncio.create_task(latest.run(work.piece("a")))]
    await turns()
    runs.append(asyncio.create_task(latest.run(work.piece("b"))))
    await turns()
    cancel = asyncio.create_task(latest.cancel())
    await turns()
    assert not cancel.done()
    work.cleaning.set()
    await asyncio.gather(cancel, *runs)
    assert work.log == ["a begins", "a is called off"]


async def test_a_cancelled_caller_calls_its_work_off() -> None:
    latest, work = Latest(), Work()
    run = asyncio.create_task(latest.run(work.piece("a")))
    await turns()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert work.log == ["a begins", "a is called off"]


async def test_what_goes_wrong_in_the_work_is_raised() -> None:
    async def breaks() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await Latest().run(breaks())

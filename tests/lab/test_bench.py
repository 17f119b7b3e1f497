"""A measurement with its journal and record on disk; a kill loses nothing that was finished."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from spark_chat.driver.driver import Driver
from spark_chat.driver.snapshot import Update
from spark_chat.engine.client import EngineClient
from spark_chat.lab import archive
from spark_chat.lab.archive import Unfinished
from spark_chat.lab.bench import Bench, Made
from spark_chat.lab.plan import Plan
from spark_chat.lab.results import Answer, AnyFound
from spark_chat.lab.runner import StageKeeper
from tests.fakes import MACHINE, FakeModels, Script
from tests.lab.scripted import Scripted, Watcher, plan

pytestmark = pytest.mark.usefixtures("home")


class Sitting:
    """One call of the command."""

    def __init__(self, whole: Plan, going_on: Unfinished | None = None, keep: bool = True,
                 by_mtp: dict[bool, Script] | None = None) -> None:  # fmt: skip
        self.engine, self.watcher = Scripted(by_mtp), Watcher()
        self.bench = Bench(whole, self.watcher, self.make, keep=keep, going_on=going_on, gb_s=10.0, on=MACHINE)

    def make(self, listener: Callable[[Update], None], keeper: StageKeeper) -> Driver:
        return Driver(
            listener, machine=MACHINE, client_factory=self.engine.client, models=FakeModels(), last_run=keeper
        )

    async def run(self) -> Made:
        return await self.bench.run()


async def test_a_whole_run_is_kept_and_its_journal_goes(home: Path) -> None:
    made = await Sitting(plan()).run()
    assert made.problem == "" and made.ran
    files = sorted((home / "data" / "spark-chat" / "bench").iterdir())
    assert [file.suffix for file in files] == [".json"]
    assert stat.S_IMODE(files[0].stat().st_mode) == 0o600
    assert archive.load("last") == made.record == archive.load(made.record["id"][:12]) == archive.load(str(files[0]))
    assert archive.everything() == [made.record] and archive.unfinished(plan().digest) is None
    assert made.record["machine"]["cpu"] == "A CPU" and made.record["configurations"][0]["runs_counted"] == 4
    assert not (home / "state").exists() or not any((home / "state").rglob("state.toml")), (
        "the chat's own is left alone"
    )


async def test_it_goes_on_after_a_kill_without_repeating(home: Path) -> None:
    killed = Sitting(plan(rounds=3))
    seen = 0

    class Killed(BaseException):
        """Nothing below gets a chance to tidy up."""

    def kill(found: AnyFound) -> None:
        nonlocal seen
        seen += isinstance(found, Answer) and found.role == "measured"
        if seen == 5:
            raise Killed

    killed.watcher.on_found = kill
    with pytest.raises(Killed):
        await killed.run()
    (journal,) = (home / "data" / "spark-chat" / "bench").iterdir()
    with journal.open("ab") as file:
        file.write(b'{"kind":"answer","configur')  # the line that the kill cut short
    assert archive.unfinished(plan(rounds=2).digest) is None, "another plan"
    left = archive.unfinished(plan(rounds=3).digest)
    assert left is not None and sum(isinstance(item, Answer) and item.counts for item in left.found) == 5

    again = Sitting(plan(rounds=3), left)
    made = await again.run()
    asked = [entry for entry in again.watcher.asked if entry[3] == "measured"]
    assert len(asked) == 7 and len(set(asked)) == 7
    assert made.record["id"] == left.id
    assert [item["runs_counted"] for item in made.record["configurations"]] == [6, 6]
    assert archive.unfinished(plan(rounds=3).digest) is None


@pytest.mark.parametrize("varied", ["mtp=on", "mtp=off,on"])
def test_engines_are_its_own_also_where_nothing_is_compared(varied: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: list[bool] = []

    def client(alone: bool = False) -> EngineClient:
        wanted.append(alone)
        return EngineClient(alone=alone)

    monkeypatch.setattr("spark_chat.engine.client.EngineClient", client)
    Bench(plan(varied), Watcher(), keep=False, on=MACHINE)
    assert wanted and all(wanted)


async def test_an_interrupt_keeps_record_and_journal(home: Path) -> None:
    sitting = Sitting(plan(rounds=9))
    sitting.watcher.on_found = lambda found: sitting.bench.interrupt() if isinstance(found, Answer) and (
        found.role == "measured") else None  # fmt: skip
    made = await sitting.run()
    assert made.record["interrupted"] and made.ran and archive.load("last")["interrupted"]
    left = archive.unfinished(plan(rounds=9).digest)
    assert left is not None and left.id == made.record["id"]


@pytest.mark.parametrize("late", ["engine", "record"])
async def test_an_interrupt_after_the_last_answer_cuts_nothing_off(
    home: Path, late: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the last engine is just going, or the record is being made."""
    sitting = Sitting(plan("mtp=on", rounds=1))

    def interrupt(*_: object, **__: object) -> None:
        sitting.bench.interrupt()

    if late == "engine":
        closed = Driver.close

        async def close(driver: Driver) -> None:
            interrupt()
            await closed(driver)

        monkeypatch.setattr(Driver, "close", close)
    else:
        monkeypatch.setattr("spark_chat.lab.bench.limits.of_record", interrupt)
    made = await sitting.run()
    assert not made.record["interrupted"] and made.record["configurations"][0]["runs_counted"] == 2
    assert archive.unfinished(plan("mtp=on", rounds=1).digest) is None


async def test_nothing_is_written_where_nobody_wants_it(home: Path) -> None:
    made = await Sitting(plan(rounds=1), keep=False).run()
    assert made.ran and made.record["id"] == "" and not (home / "data").exists()


async def test_a_disk_that_takes_nothing_ends_no_measurement(home: Path) -> None:
    (home / "data").mkdir()
    (home / "data" / "spark-chat").write_text("in the way")
    made = await Sitting(plan(rounds=1)).run()
    assert made.ran and "kept" in made.problem


async def test_none_that_ran() -> None:
    broken = {True: Script(start_failure="No."), False: Script(start_failure="No.")}
    made = await Sitting(plan(rounds=1), by_mtp=broken).run()
    assert not made.ran and [item["failure"] for item in made.record["configurations"]] == ["No. Try another."] * 2


@pytest.mark.parametrize(
    "content, said", [("{", "no JSON"), ("[]", "is no record"), ('{"configurations": []}', "format")]
)
def test_files_that_are_no_records(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(content)
    with pytest.raises(archive.NoRecord, match=said):
        archive.load(str(file))


@pytest.mark.parametrize("name", ["last", "2026", "../../etc/passwd", "nothing.json"])
def test_records_that_are_not_there(name: str) -> None:
    with pytest.raises(archive.NoRecord):
        archive.load(name)

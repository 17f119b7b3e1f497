"""Who holds the memory, by name."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat import nvidia
from spark_chat.memory import holders
from spark_chat.memory.holders import Process

GIB, MIB = 1024**3, 1024**2


def test_processes_of_one_name_are_one_program() -> None:
    found = holders.largest([Process(1, "web", GIB), Process(2, "web", 2 * GIB), Process(3, "db", GIB * 5 // 2)])
    assert [str(one) for one in found] == ["web (pid 2 and 1 more, 3.0 GiB)", "db (pid 3, 2.5 GiB)"]


@given(st.lists(st.builds(Process, st.integers(1, 99), st.sampled_from("abc"), st.integers(0, 2**40)), max_size=30))
def test_nothing_is_lost_and_the_largest_come_first(processes: list[Process]) -> None:
    found = holders.largest(processes, shown=99)
    assert sum(one.size for one in found) == sum(one.size for one in processes)
    assert [one.size for one in found] == sorted((one.size for one in found), reverse=True)


def test_a_running_program_is_seen_with_what_it_holds() -> None:
    command = [sys.executable, "-m", "tests.memory.balloon", str(96 * MIB)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as balloon:
        assert balloon.stdout is not None and balloon.stdin is not None
        balloon.stdout.readline()
        seen = {process.pid: process for process in holders.running()}
        balloon.stdin.close()
    assert seen[balloon.pid].name == "balloon" and 96 * MIB <= seen[balloon.pid].size < 200 * MIB
    assert os.getpid() not in seen


def test_names_are_cleaned() -> None:
    assert holders._clean("a\x1b[2Jb\u202e") == "a?[2Jb?" and holders._clean("") == "a program"


@pytest.mark.parametrize(
    ("said", "found"),
    [("143771, 143200\n", (143771 * MIB, 143200 * MIB)), ("[N/A], [N/A]\n", None), ("", None), ("7\n", None)],
)
def test_what_a_driver_tells_of_its_memory(said: str, found: tuple[int, int] | None) -> None:
    told = nvidia.parsed_memory(said)
    assert (told and (told.total, told.free)) == found

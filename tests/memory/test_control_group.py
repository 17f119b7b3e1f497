"""Limits of control groups, of both versions, as they lie in /sys."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark_chat.memory import control_group, meminfo
from spark_chat.memory.control_group import Room

GIB = 1024**3
MEMINFO = "MemTotal: 8388608 kB\nMemFree: 2097152 kB\nMemAvailable: 6291456 kB\n"


def group(folder: Path, limit: str, used: int, cached: int = 0, **more: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "memory.max").write_text(limit + "\n")
    (folder / "memory.current").write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 1\nfile 99999999999\nactive_file {cached}\ninactive_file 0\nshmem 5\n")
    for name, text in more.items():
        (folder / name.replace("_", ".")).write_text(text + "\n")


def own(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "own"
    path.write_text(text)
    return path


def test_no_limit_is_no_room(tmp_path: Path) -> None:
    group(tmp_path / "cg" / "user", "max", GIB)
    assert control_group.room(own(tmp_path, "0::/user\n"), tmp_path / "cg") is None
    assert control_group.room(tmp_path / "gone", tmp_path / "gone") is None


def test_the_tightest_of_all_above_counts_and_cached_files_give_way(tmp_path: Path) -> None:
    root = tmp_path / "cg"
    group(root / "slice" / "job", str(6 * GIB), 2 * GIB)
    group(root / "slice", str(4 * GIB), 3 * GIB, cached=GIB)
    assert control_group.room(own(tmp_path, "0::/slice/job\n"), root) == Room(4 * GIB, 2 * GIB)


def test_a_container_that_does_not_see_its_own_path(tmp_path: Path) -> None:
    root = tmp_path / "cg"
    group(root, str(2 * GIB), GIB)
    assert control_group.room(own(tmp_path, "0::/docker/abc\n"), root) == Room(2 * GIB, GIB)
    assert control_group.room(own(tmp_path, "0::/../../x\n"), root) == Room(2 * GIB, GIB)


def test_a_soft_limit_counts_too(tmp_path: Path) -> None:
    group(tmp_path / "cg", str(4 * GIB), GIB, memory_high=str(3 * GIB))
    assert control_group.room(own(tmp_path, "0::/\n"), tmp_path / "cg") == Room(3 * GIB, 2 * GIB)


def test_version_one(tmp_path: Path) -> None:
    folder = tmp_path / "cg" / "memory" / "lxc"
    folder.mkdir(parents=True)
    (folder / "memory.limit_in_bytes").write_text(f"{3 * GIB}\n")
    (folder / "memory.usage_in_bytes").write_text(f"{2 * GIB}\n")
    (folder / "memory.stat").write_text(f"cache 1\ntotal_inactive_file {GIB // 2}\ntotal_active_file {GIB // 2}\n")
    top = folder.parent
    (top / "memory.limit_in_bytes").write_text(f"{2**63 - 4096}\n")
    (top / "memory.usage_in_bytes").write_text("5\n")
    (top / "memory.stat").write_text("")
    path = own(tmp_path, "12:cpu,cpuacct:/lxc\n4:memory:/lxc\n1:name=systemd:/x\nrubbish\n")
    assert control_group.room(path, tmp_path / "cg") == Room(3 * GIB, 2 * GIB)


@pytest.mark.parametrize("limit", [1, 16])
def test_meminfo_under_a_limit(tmp_path: Path, limit: int) -> None:
    (tmp_path / "meminfo").write_text(MEMINFO)
    group(tmp_path / "cg", str(limit * GIB), GIB // 2)
    found = meminfo.read(tmp_path / "meminfo", tmp_path / "gone", tmp_path / "cg")
    assert found is not None
    if limit == 16:
        assert (found.available, found.free, found.limit) == (6 * GIB, 2 * GIB, None)
    else:
        assert (found.available, found.free, found.limit) == (GIB // 2, GIB // 2, GIB)
    assert meminfo.read(tmp_path / "nothing") is None

"""The doctor on machines that are made up: meminfo, nvidia-smi's output and /proc as they come on a DGX Spark."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.headless import doctor, doctor_build, doctor_files, doctor_gpu, doctor_memory
from spark_chat.headless.finding import fine, warning
from spark_chat.machine import Gpu
from spark_chat.memory import meminfo
from spark_chat.memory.have import Have
from spark_chat.memory.meminfo import Memory
from spark_chat.recipe.memory_floor import Floor
from spark_chat.recipe.memory_need import GIB
from tests.fakes import MACHINE

SPARK = replace(MACHINE, gpu=Gpu("NVIDIA GB10", (12, 1)), spark=True, memory_bytes=121 * GIB)

MEMINFO = """MemTotal:       127535444 kB
MemFree:        43253760 kB
MemAvailable:   108134400 kB
Buffers:          123456 kB
Cached:         62914560 kB
SwapTotal:      16777212 kB
SwapFree:       16777212 kB
HugePages_Total:       0
"""

GB10 = "580.95.05, [N/A], [N/A], [N/A], 0x0000000000000000\n"


def memory_findings(memory: Memory, wanted: int, shared: bool = True) -> dict[str, doctor_memory.Finding]:
    have = Have(memory.available, memory.total, memory.free if shared else None)
    found = doctor_memory.examine(memory, have, Floor(wanted, "Why."), "Ling", [])
    return {finding.name: finding for finding in found}


def test_page_cache_in_the_way_of_cuda() -> None:
    memory = meminfo.parsed(MEMINFO)
    assert memory.free == 43253760 * 1024 and memory.available == 108134400 * 1024
    found = memory_findings(memory, 85 * GIB)
    assert found["memory need"].level == "fine"
    assert found["page cache"].level == "warning" and found["page cache"].fix is not None
    assert "drop_caches" in found["page cache"].remedy
    assert "page cache" not in memory_findings(memory, 85 * GIB, shared=False), "only where memory is shared"
    assert memory_findings(replace(memory, free=100 * GIB), 85 * GIB)["page cache"].level == "fine"


@pytest.mark.parametrize(
    ("available", "wanted", "level"),
    [(100, 85, "fine"), (86, 85, "warning"), (80, 85, "wrong"), (100, 130, "wrong")],
)
def test_what_is_free_against_what_is_needed(available: int, wanted: int, level: str) -> None:
    memory = Memory(total=121 * GIB, free=GIB, available=available * GIB)
    found = memory_findings(memory, wanted * GIB)["memory need"]
    assert found.level == level and (found.remedy or level == "fine")


@given(st.text())
def test_any_meminfo_is_read(text: str) -> None:
    meminfo.parsed(text)


def test_swap_in_use() -> None:
    used = Memory(total=121 * GIB, available=100 * GIB, swap_total=16 * GIB, swap_free=4 * GIB)
    assert memory_findings(used, GIB)["swap"].level == "warning"
    assert memory_findings(used, GIB, shared=False)["swap"].level == "fine"


def test_pages_are_given_back(tmp_path: Path) -> None:
    file = tmp_path / "model.safetensors"
    file.write_bytes(bytes(100_000))
    assert "1 of the model's files" in doctor_memory.evict([file, tmp_path / "gone"])
    assert file.read_bytes() == bytes(100_000)


def smi(query: str, apps: str = "", banner: str = "| NVIDIA-SMI 580.95  CUDA Version: 13.0 |") -> doctor_gpu.Ask:
    def asked(arguments: list[str]) -> str:
        words = " ".join(arguments)
        return query if "query-gpu" in words else apps if "query-compute" in words else banner

    return asked


def gpu_findings(asked: doctor_gpu.Ask, proc: Path) -> dict[str, doctor_gpu.Finding]:
    return {finding.name: finding for finding in doctor_gpu.examine(SPARK, asked, proc)}


def process(proc: Path, pid: int, name: str, device: str = "", pages: int = 0) -> None:
    (proc / str(pid) / "fd").mkdir(parents=True)
    (proc / str(pid) / "comm").write_text(name + "\n")
    (proc / str(pid) / "statm").write_text(f"9 {pages} 0 0 0 0 0\n")
    if device:
        (proc / str(pid) / "fd" / "3").symlink_to(device)


def test_a_gb10_says_little_and_is_fine(tmp_path: Path) -> None:
    found = gpu_findings(smi(GB10), tmp_path)
    assert {finding.level for finding in found.values()} == {"fine"}
    assert found["driver"].text == "580.95.05, up to CUDA 13.0."
    assert "tells no limit" in found["power"].text


def test_programs_that_hold_the_gpu_are_named(tmp_path: Path) -> None:
    process(tmp_path, 11, "ollama", "/dev/nvidia-uvm", pages=2**20)
    process(tmp_path, 12, "bash", "/dev/null")
    process(tmp_path, 13, "evil\x1b[2J", "/dev/nvidia0", pages=1)
    process(tmp_path, 14, "python", pages=1)
    process(tmp_path, os.getpid(), "me", "/dev/nvidia0")
    found = gpu_findings(smi(GB10, "11, [N/A]\n14, 2048\n"), tmp_path)["GPU programs"]
    assert found.level == "warning"
    assert "ollama (11, 4.0 GiB resident)" in found.text and "python (14, 2.0 GiB of GPU memory)" in found.text
    assert "bash" not in found.text and "me (" not in found.text and "\x1b" not in found.text


@pytest.mark.parametrize(
    ("query", "name", "level"),
    [
        ("570.1, 30, 100, 100, 0x0\n", "driver", "wrong"),
        ("", "driver", "warning"),
        ("580.1, 30, 60, 100, 0x0\n", "power", "warning"),
        ("580.1, 30, 100, 100, 0x0000000000000004\n", "power", "warning"),
        ("580.1, 30, 100, 100, 0x0000000000000040\n", "power", "warning"),
        ("580.1, 30, 100, 100, 0x0000000000000001\n", "power", "fine"),
    ],
)
def test_driver_and_power(query: str, name: str, level: str, tmp_path: Path) -> None:
    found = gpu_findings(smi(query), tmp_path)[name]
    assert found.level == level and (found.remedy or level == "fine")


def test_without_a_gpu_nothing_is_said_of_it(tmp_path: Path) -> None:
    assert list(doctor_gpu.examine(MACHINE, smi(GB10), tmp_path)) == []


def test_low_power_profile(tmp_path: Path) -> None:
    (tmp_path / "profile").write_text("low-power\n")
    assert doctor_gpu.power({}, tmp_path / "profile").level == "warning"


def build_findings(**versions: str) -> dict[str, doctor_build.Finding]:
    names = {name.replace("_", "-"): text for name, text in versions.items()}
    wanted = ["flashinfer_python[cu13]==0.7.2", "sglang-kernel==0.4.10", "humming-kernels[cu13]==0.1.12",
              "torch==2.14.1", "transformers>=5.19.0", 'pytest==1; extra == "test"']  # fmt: skip
    found = doctor_build.examine(lambda tool: None, Path("/no/Python.h"), names.get, lambda: wanted)
    return {finding.name: finding for finding in found}


def test_what_building_kernels_needs(tmp_path: Path) -> None:
    bare = build_findings()
    assert [bare[name].level for name in ("compiler", "ninja", "Python.h")] == ["wrong", "warning", "wrong"]
    assert all(bare[name].remedy.startswith("sudo apt install") for name in ("compiler", "ninja", "Python.h"))
    (tmp_path / "Python.h").touch()
    full = doctor_build.examine(lambda tool: f"/usr/bin/{tool}", tmp_path / "Python.h", lambda name: None, list)
    assert {finding.level for finding in full} == {"fine"}


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        ({"flashinfer_python": "0.7.2", "flashinfer_cubin": "0.7.1"}, "must be the same"),
        ({"flashinfer_python": "0.7.1"}, "SGLang wants 0.7.2"),
        ({"humming_kernels": "0.1.11"}, "humming-kernels is 0.1.11"),
        ({"transformers": "5.2.0"}, "5.19.0 or newer"),
        ({"flashinfer_python": "0.7.2", "flashinfer_cubin": "0.7.2", "torch": "2.14.1+cu130"}, ""),
    ],
)
def test_versions_that_must_match(versions: dict[str, str], said: str) -> None:
    found = build_findings(**versions)["versions"]
    assert (said in found.text and found.remedy.startswith("pip install")) if said else found.level == "fine"


def test_fixing_does_what_is_safe_and_goes_on(home: Path) -> None:
    def broken() -> str:
        raise PermissionError(13, "Permission denied")

    findings = [fine("CPU", "."), warning("a", "x", "y", broken), warning("b", "x", "y", lambda: "Done."),
                warning("c", "x", "y")]  # fmt: skip
    assert list(doctor.fix(findings)) == ["a: it could not be put right: Permission denied.", "b: Done."]
    file = home / "data" / "spark-chat" / "history.sqlite3"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"")
    file.chmod(0o644)
    list(doctor.fix([doctor_files.history()]))
    assert file.stat().st_mode & 0o777 == 0o600 and doctor_files.history().level == "fine"

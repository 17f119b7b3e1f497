"""The doctor's lines."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spark_chat import locations
from spark_chat.headless import doctor, doctor_engines, doctor_files, doctor_terminal
from spark_chat.headless.finding import Finding, fine, warning, wrong
from spark_chat.machine import Gpu
from spark_chat.settings.resolve import resolve
from spark_chat.settings.schema import Settings
from tests.fakes import MACHINE


def hardware(available: int = 2**33, **machine: Any) -> dict[str, Finding]:
    return {finding.name: finding for finding in doctor.hardware(replace(MACHINE, **machine), available)}


def test_hardware_by_what_it_is() -> None:
    plain = hardware()
    assert {finding.level for finding in plain.values()} == {"fine"}
    assert "no NVIDIA GPU" in plain["GPU"].text and plain["DGX Spark"].text == "this is not one."
    spark = hardware(gpu=Gpu("NVIDIA GB10", (12, 1)), spark=True)
    assert spark["GPU"].text == "NVIDIA GB10, compute capability 12.1."
    assert hardware(gpu=Gpu("NVIDIA GPU", None))["GPU"].level == "warning"
    assert hardware(cores=1)["CPU"].level == "warning"
    assert hardware(available=2**29)["memory"].level == "warning"


def test_python_without_pip_and_an_old_one() -> None:
    assert doctor_engines.python((3, 11), pip=True).level == "fine"
    assert "--model PATH" in doctor_engines.python((3, 13), pip=False).remedy
    assert doctor_engines.python((3, 10), pip=True).level == "wrong"


def test_an_engine_that_is_not_there_or_does_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_engines, "installed", lambda package: False)
    assert doctor_engines.llama().level == "wrong"
    monkeypatch.setattr(doctor_engines, "installed", lambda package: True)
    monkeypatch.setattr(doctor_engines, "_import_trouble", lambda package: "ImportError: no libgomp.so.1")
    assert "no libgomp.so.1" in doctor_engines.llama().text


def test_the_trouble_of_an_import_is_its_last_line() -> None:
    assert doctor_engines._import_trouble("json") == ""
    assert "No module named 'no_such_package_here'" in doctor_engines._import_trouble("no_such_package_here")


def test_sglang_without_a_gpu_is_said_to_be_there_and_why_it_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_engines, "installed", lambda package: True)
    monkeypatch.setattr(doctor_engines, "_version", lambda package: "0.5.23")
    found = doctor_engines.sglang(MACHINE)
    assert found.level == "fine"
    assert found.text == "sglang 0.5.23 is installed, but can't run: no NVIDIA GPU was found."


def test_sglang_is_missed_only_where_a_gpu_is() -> None:
    assert doctor_engines.sglang(MACHINE).level == "fine"
    gpu = doctor_engines.sglang(replace(MACHINE, gpu=Gpu("NVIDIA GB10", (12, 1))))
    assert (gpu.level, gpu.remedy) == ("warning", "pip install 'spark-chat[spark]'")


async def test_the_model_that_a_start_would_take(home: Path) -> None:
    assert "would be fetched at the first start, 93 MB" in (await doctor_engines.model(Settings(), MACHINE)).text
    path = home / "mine.gguf"
    path.write_bytes(b"GGUF" + bytes(100))
    named = replace(Settings(), engine=replace(Settings().engine, model=str(path)))
    assert (await doctor_engines.model(named, MACHINE)).text == "mine would run on llama.cpp."
    missing = replace(Settings(), engine=replace(Settings().engine, model="/no/such.gguf"))
    found = await doctor_engines.model(missing, MACHINE)
    assert found.level == "wrong" and found.remedy


def test_folders(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor_files.folder("cache folder", locations.cache_folder).text.endswith("made when it is needed.")
    assert not (home / "cache").exists(), "nothing is made to find out"
    (home / "cache").write_text("in the way")
    assert doctor_files.folder("cache folder", locations.cache_folder).level == "wrong"
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "can't be written" in doctor_files.folder("data folder", locations.data).text


def test_a_read_only_disk_and_a_full_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_files, "_read_only", lambda path: True)
    assert "read-only" in doctor_files.folder("data folder", locations.data).text
    monkeypatch.setattr(doctor_files, "ROOM", 2**62)
    assert doctor_files.room(home).level == "warning"


def test_no_home_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise locations.NoHome("No home folder is known. Set HOME.")

    assert doctor_files.folder("config folder", nowhere).level == "wrong"


def test_settings_file(home: Path) -> None:
    assert "defaults" in next(iter(doctor_files.settings(resolve(environ={})))).text
    file = home / "settings.toml"
    file.write_text("[optimizations]\nmtp = 'perhaps'\n")
    found = list(doctor_files.settings(resolve(environ={}, path=file)))
    assert [finding.level for finding in found] == ["wrong"]
    assert "optimizations.mtp" in found[0].text and "settings validate" in found[0].remedy
    file.write_text("[optimizations]\nmtp = false\n")
    assert [finding.level for finding in doctor_files.settings(resolve(environ={}, path=file))] == ["fine"]


def test_history_for_this_users_eyes(home: Path) -> None:
    assert doctor_files.history().level == "fine"
    path = locations.history_file()
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x")
    path.chmod(0o644)
    assert doctor_files.history().remedy.startswith("chmod 600 ")
    path.chmod(0o600)
    assert doctor_files.history().level == "fine"


@pytest.mark.parametrize(
    ("environ", "level"), [({}, "warning"), ({"TERM": "dumb"}, "warning"), ({"TERM": "xterm-256color"}, "fine")]
)
def test_terminals(environ: dict[str, str], level: str) -> None:
    assert doctor_terminal.kind(environ).level == level


def test_what_is_around_the_terminal() -> None:
    assert "none" in doctor_terminal.colours({"NO_COLOR": "1", "COLORTERM": "truecolor"}).text
    assert doctor_terminal.colours({"COLORTERM": "truecolor"}).text == "16 million."
    assert doctor_terminal.encoding("ANSI_X3.4-1968", {}).remedy == "Set LANG=C.UTF-8."
    assert doctor_terminal.encoding("utf-8", {}).level == "fine"
    assert doctor_terminal.extent((20, 5)).level == "warning"
    assert doctor_terminal.extent((80, 24)).level == "fine"
    around = doctor_terminal.around({"TMUX": "/tmp/x,1,0", "SSH_CONNECTION": "1 2 3 4"})
    assert [finding.name for finding in around] == ["tmux", "ssh"]


def test_the_worst_line_is_the_whole() -> None:
    findings = [fine("CPU", "2 cores."), warning("memory", "Little.", "End programs."), wrong("model", "None.", "Add.")]
    assert doctor.as_json(findings)["level"] == "wrong"
    assert doctor.as_json(findings[:2])["level"] == "warning"
    assert doctor.as_lines(findings)[-1] == "1 wrong, 1 warning."
    assert doctor.as_lines(findings)[1] == "! warning  memory  Little. End programs."


def test_every_line_that_is_not_fine_says_what_to_do(home: Path) -> None:
    findings = list(doctor.examine(resolve(environ={}), MACHINE, environ={}))
    names = {finding.name for finding in findings}
    assert {"CPU", "memory", "GPU", "DGX Spark", "Python", "llama.cpp", "SGLang", "model", "settings"} <= names
    assert all(finding.remedy or finding.level == "fine" for finding in findings)
    assert json.loads(json.dumps(doctor.as_json(findings)))["findings"]

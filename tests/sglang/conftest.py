"""The real SGLang on the CPU; every test here that needs it is skipped, with the reason in sight, where it is not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spark_chat.sglang_plugin import discovery
from tests.sglang import cpu

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def sglang_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Environment for a process that runs SGLang on the CPU with the plugin found; skips where that can't be."""
    reason = cpu.missing()
    if reason is not None:
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("stub")
    plugin = tmp_path_factory.mktemp("plugin")
    discovery.write(plugin)
    return cpu.environment(folder) | {"PYTHONPATH": os.pathsep.join([str(plugin), str(ROOT)])}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory, sglang_environment: dict[str, str]) -> Path:
    """A small Llama that the real engine runs on the CPU."""
    from tests.sglang import small_llama

    folder = tmp_path_factory.mktemp("llama")
    small_llama.write(folder)
    return folder


Script = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def script(sglang_environment: dict[str, str]) -> Script:
    """Run a module that prints `RESULT {json}`, with more environment by keyword."""

    def run(module: str, *arguments: str, **extra: str) -> dict[str, Any]:
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300,
            env={**os.environ, **sglang_environment, **extra},
        )  # fmt: skip
        lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
        assert lines, done.stdout[-2000:] + done.stderr[-4000:]
        found: dict[str, Any] = json.loads(lines[-1].removeprefix("RESULT "))
        return found

    return run


@pytest.fixture(scope="session")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The oracle checkpoint, written once."""
    pytest.importorskip("torch", reason="the oracle's numbers need torch (pip install '.[spark]')")
    from tests.gpu.oracle_plan import draw
    from tests.gpu.oracle_weights import Writer

    place = tmp_path_factory.mktemp("oracle")
    Writer(draw(), 0).write(place)
    return place

"""`spark-chat prepare` for Ling's baseline, ended at random moments in every way that a process can be."""

from __future__ import annotations

import json
import random
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.cli.process import Finished
from tests.prepare.compilers import Pace
from tests.prepare.on_spark import TAG, on_spark
from tests.processes import of_home
from tests.waiting import comes

FUSED, STEPS = 97, 97 + 12
"""Targets of FlashInfer's fused experts, and the engine's own kernels besides."""
LING = {"model_type": "bailing_hybrid", "num_hidden_layers": 42, "layer_group_size": 6, "first_k_dense_replace": 1,
        "hidden_size": 2560, "vocab_size": 157184, "num_experts": 256,
        "quantization_config": {"quant_method": "fp8", "routed_experts_quant_method": "mxfp4"}}  # fmt: skip


@pytest.fixture
def pace(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pace]:
    (home / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(home / "tmp"))
    with Pace.of(home) as pace:
        yield pace


@pytest.fixture
def command(home: Path) -> tuple[str, ...]:
    model = home / "Ling"
    model.mkdir()
    (model / "config.json").write_text(json.dumps(LING))
    (model / "model.safetensors").write_bytes(bytes(100))
    return "prepare", "--json", "--model", str(model), "--set", "humming=off"


def test_ended_in_every_way_at_random_moments_it_goes_on_where_it_was(
    home: Path, pace: Pace, command: tuple[str, ...]
) -> None:
    dice = random.Random(11)
    ways = ["kill", "worker", "ctrl+c"]
    moments = sorted(dice.sample(range(FUSED), 3)) + sorted(dice.sample(range(FUSED + 1, STEPS), 3))
    for way, moment in zip(dice.sample(ways, 3) + dice.sample(ways, 3), moments, strict=True):
        pace.release(moment - len(pace.made()))
        process = on_spark(*command)
        assert comes(lambda moment=moment: len(pace.made()) == moment and pace.waiting("compiler")), (way, moment)
        if way == "worker":
            for child in psutil.Process(process.pid).children():
                child.kill()
        else:
            process.send_signal(signal.SIGINT if way == "ctrl+c" else signal.SIGKILL)
        done = Finished(process)
        assert done.code == {"kill": -9, "worker": 1, "ctrl+c": 130}[way], done.err
        assert way == "kill" or "hat was compiled is kept" in done.err, done.err
        assert comes(lambda: not of_home(home)), "no compiler goes on by itself"
        assert len(pace.made()) == moment and not list((home / "tmp").iterdir())
    pace.release(1000)
    done = Finished(on_spark(*command))
    assert done.code == 0, done.err
    assert (done.record["compiled"], done.record["left"]) == (1, [])
    assert len(pace.made()) == STEPS and set(pace.made().values()) == {1}, "nothing is compiled twice"
    kernels = home / "cache" / "spark-chat" / "kernels"
    assert [path.name for path in kernels.iterdir()] == [TAG]
    assert sorted(path.name for path in (kernels / TAG).iterdir()) == [".lock", "prepared.json"]
    done = Finished(on_spark(*command))
    assert (done.code, done.record["compiled"]) == (0, 0), done.err

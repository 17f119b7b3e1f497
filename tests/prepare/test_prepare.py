"""Kernels are compiled once a version, with a plan that fits the memory, and can be stopped anywhere."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_chat.engine.protocol import AnyEvent, Failed, Progress, Ready
from spark_chat.machine import Gpu
from spark_chat.prepare import plan, prepare, steps
from spark_chat.prepare.book import Book
from spark_chat.prepare.plan import GIB, estimate, jobs
from spark_chat.prepare.rehearsal import ARGS, PrepareProblem
from spark_chat.prepare.shortened import lay_out, shortened
from spark_chat.recipe.recipe import ModelRef, Recipe
from tests import waiting
from tests.fakes import MACHINE
from tests.processes import of_home

ROOT = Path(__file__).parents[2]
SPARK = replace(MACHINE, gpu=Gpu("NVIDIA GB10", (12, 1)), spark=True, cores=20)
LING = {
    "model_type": "bailing_hybrid", "num_hidden_layers": 42, "layer_group_size": 6, "first_k_dense_replace": 1,
    "num_nextn_predict_layers": 1, "hidden_size": 2560, "vocab_size": 157184,
    "expert_swiglu_limit_list": [0.0] * 35 + [4.0] * 7, "eos_token_id": [1, 2],
}  # fmt: skip
SLOW = """
import signal, sys
for step in range(1, 98):
    print(f"[{step}/97] c++ kernel{step}.cu", flush=True)
    if step == int(sys.argv[1]): signal.pause()
if sys.argv[1] == "fail":
    print("kernel.cu(3): error: no such thing\\nninja: build stopped", flush=True); sys.exit(1)
"""


@pytest.fixture
def checkpoint(home: Path) -> Path:
    folder = home / "Ling"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LING))
    for name in ("tokenizer.json", "modeling.py", "model-00001-of-00002.safetensors", "model.safetensors.index.json"):
        (folder / name).write_text(name)
    return folder


def recipe(checkpoint: Path, **args: object) -> Recipe:
    return Recipe("sglang", ModelRef("Ling", str(checkpoint)), 0, {"mtp": True}, args=dict(args), linger_s=600)


class Engine:
    """A client that is ready, fails, or hangs, as it is told."""

    def __init__(self, ends: str = "ready") -> None:
        self.ends, self.started, self.stopped = ends, list[Recipe](), 0
        self.hanging = asyncio.Event()

    async def start(self, recipe: Recipe, on_event: Callable[[AnyEvent], None], log: Path | None = None) -> None:
        self.started.append(recipe)
        assert (Path(recipe.model.path) / "tokenizer.json").read_text() == "tokenizer.json"
        on_event(Progress(stage="graphs", fraction=0.5, text="Capturing", time=0.0))
        if self.ends == "ready":
            on_event(Ready(engine="SGLang", version="1", model="Ling", context=1, proofs={}, time=1.0))
        elif self.ends == "fail":
            on_event(Failed(code="load", what="It broke.", remedy="Mend it.", time=1.0))
        else:
            self.hanging.set()

    async def stop(self) -> None:
        self.stopped += 1

    def log_end(self, lines: int = 40) -> list[str]:
        return []


async def run(found: Recipe, engine: Engine, book: Book, heard: list[str] | None = None) -> int:
    heard = [] if heard is None else heard
    return await prepare.prepare(found, SPARK, book, 120 * GIB, lambda done, text: heard.append(text), lambda: engine)


@given(st.integers(1, 300), st.integers(0, 2000 * GIB))
def test_jobs_fit_the_memory(cores: int, available: int) -> None:
    count = jobs(cores, available)
    assert 1 <= count <= min(8, cores) and (count == 1 or count * 10 * GIB <= available)


def test_the_plan_follows_the_settings(checkpoint: Path) -> None:
    plain = plan.tasks(recipe(checkpoint), SPARK, 120 * GIB, LING, {})
    assert [task.kind for task in plain] == ["rehearsal"] and estimate(plain) is None
    baseline = plan.tasks(recipe(checkpoint, moe_runner_backend="flashinfer_mxfp4"), SPARK, 25 * GIB, LING, {})
    assert [(task.kind, task.jobs) for task in baseline] == [("flashinfer", 2), ("rehearsal", 2)]
    assert plain[0].key != baseline[1].key, "other arguments, other kernels"
    other = plan.tasks(recipe(checkpoint), replace(SPARK, gpu=Gpu("H200", (9, 0))), 0, LING, {})
    assert other[0].key != plain[0].key
    assert plan.tasks(recipe(checkpoint, random_seed=5), SPARK, 0, LING, {})[0].key == plain[0].key
    assert plan.tasks(replace(recipe(checkpoint), engine="llama.cpp"), SPARK, 0, LING, {}) == ()


def test_a_layer_of_each_kind_is_left() -> None:
    short = shortened(LING)
    assert (short["num_hidden_layers"], short["layer_group_size"], short["first_k_dense_replace"]) == (3, 3, 1)
    assert short["expert_swiglu_limit_list"] == [0.0, 0.0, 0.0] and short["eos_token_id"] == [1, 2]
    assert {**short, **{name: LING[name] for name in ("num_hidden_layers", "layer_group_size",
                                                      "expert_swiglu_limit_list")}} == LING  # fmt: skip
    plain = {"num_hidden_layers": 30, "layer_types": ["full"] * 30}
    assert shortened(plain) == {"num_hidden_layers": 1, "layer_types": ["full"]}
    assert shortened({"text_config": plain})["text_config"]["num_hidden_layers"] == 1
    assert shortened({}) == {}


def test_no_weight_is_laid_out(checkpoint: Path, home: Path) -> None:
    lay_out(checkpoint, home / "short")
    assert sorted(path.name for path in (home / "short").iterdir()) == ["config.json", "modeling.py", "tokenizer.json"]


async def test_once_a_version_and_no_more(checkpoint: Path, home: Path) -> None:
    engine, book, heard = Engine(), Book(home / "kernels" / "one"), list[str]()
    assert await run(recipe(checkpoint), engine, book, heard) == 1
    (started,) = engine.started
    assert heard == ["Capturing"] and engine.stopped == 1
    assert ARGS.items() <= started.args.items() and started.linger_s == 0 and started.environment["MAX_JOBS"] == "8"
    assert not os.path.exists(started.model.path), "the short one is gone again"  # noqa: ASYNC240, PTH110
    assert await run(recipe(checkpoint), engine, book) == 0 and len(engine.started) == 1
    newer = Book(home / "kernels" / "two")
    (task,) = prepare.left(recipe(checkpoint), SPARK, newer, 120 * GIB)
    assert task.seconds is not None, "what it took the older version is the estimate"


async def test_an_engine_that_fails_is_not_noted(checkpoint: Path, home: Path) -> None:
    engine, book = Engine("fail"), Book(home / "kernels" / "one")
    with pytest.raises(PrepareProblem, match=r"It broke\. Mend it\."):
        await run(recipe(checkpoint), engine, book)
    assert engine.stopped == 1 and book.done() == {}


async def test_called_off_it_stops_the_engine_and_can_go_on(checkpoint: Path, home: Path) -> None:
    engine, book = Engine("hang"), Book(home / "kernels" / "one")
    task = asyncio.create_task(run(recipe(checkpoint), engine, book))
    await engine.hanging.wait()
    with pytest.raises(PrepareProblem, match="Another spark-chat is preparing"):
        await run(recipe(checkpoint), Engine(), book)
    task.cancel()
    await asyncio.wait([task])
    assert engine.stopped == 1 and book.done() == {}
    assert await run(recipe(checkpoint), Engine(), book) == 1


async def test_a_build_tells_its_steps() -> None:
    heard: list[float | None] = []
    await steps.run([sys.executable, "-c", SLOW, "0"], {}, "Experts", lambda done, text: heard.append(done))
    assert heard[0] is None and heard[-1] == 1.0
    with pytest.raises(PrepareProblem, match=r"Experts could not be compiled.*no such thing"):
        await steps.run([sys.executable, "-c", SLOW.replace("int(sys.argv[1])", "0"), "fail"], {}, "Experts",
                        lambda done, text: None)  # fmt: skip


async def test_a_build_stopped_at_random_moments_leaves_no_process(home: Path) -> None:
    dice = random.Random(3)
    for _ in range(4):
        at = dice.randrange(1, 98)
        reached = asyncio.Event()

        def heard(done: float | None, text: str, at: int = at, reached: asyncio.Event = reached) -> None:
            if done is not None and done * 97 >= at - 0.5:
                reached.set()

        task = asyncio.create_task(steps.run([sys.executable, "-c", SLOW, str(at)], {}, "Experts", heard))
        await asyncio.wait_for(reached.wait(), 20)
        assert of_home(home)
        task.cancel()
        await asyncio.wait([task])
        await waiting.until(lambda: not of_home(home), "the build to be gone")


BUILD = """
import asyncio, sys
from spark_chat.prepare import steps

def heard(done, text):
    if done is not None: print(done, flush=True)

asyncio.run(steps.run([sys.executable, "-c", sys.argv[1], *sys.argv[2:]], {}, "Experts", heard))
"""
WITH_COMPILERS = f"""
import subprocess, sys
for _ in range(3): subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
{SLOW}
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_where_what_builds_is_ended_at_random_moments_its_compilers_go_too(home: Path, how: signal.Signals) -> None:
    dice = random.Random(how)
    for _ in range(3):
        at = dice.randrange(1, 98)
        with subprocess.Popen(
            [sys.executable, "-c", BUILD, WITH_COMPILERS, str(at)], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(ROOT)},
        ) as builds:  # fmt: skip
            assert builds.stdout is not None
            assert any(float(line) * 97 >= at - 0.5 for line in builds.stdout)
            assert len(of_home(home)) > 3
            builds.send_signal(how)
        assert waiting.comes(lambda: not of_home(home)), of_home(home)


@given(st.one_of(st.binary(max_size=40), st.just(b'{"a": "b", "c": 1e999, "d": -1, "e": 2}'), st.just(b"[1]")))
def test_a_book_of_any_content_is_read(content: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "prepared.json").write_bytes(content)
        assert Book(Path(folder)).done() in ({}, {"e": 2.0})

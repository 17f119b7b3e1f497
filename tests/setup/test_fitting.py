"""What fits which machine, in few words, at every width."""

from __future__ import annotations

import pytest

from spark_chat.driver.fitting import LING, Facts, fit
from spark_chat.driver.setup import Standing, Step
from spark_chat.prepare.plan import Task
from spark_chat.recipe.memory_need import GIB
from spark_chat.tui.setup_notice import notice
from spark_chat.tui.widgets.notice import notice_text
from tests.fakes import MACHINE
from tests.setup.made_up import H200, RTX, plain, spark


def said(facts: Facts) -> str:
    found = fit(facts)
    return "\n".join((found.title, *found.body))


def test_a_spark_is_told_what_it_is_what_fits_and_what_it_costs() -> None:
    text = said(spark())
    assert "This DGX Spark fits Ling-3.0-flash-fp4 on SGLang." in text
    assert "To fetch: 66.0 GB, 11 min at 100 MB/s or 1 h 50 min at 10 MB/s." in text
    assert "To build: its kernels, some minutes the first time, once a version." in text
    assert "GB10, 121.0 GiB shared by CPU and GPU, 20 cores; it needs 85.0 GiB." in text
    assert "SmolLM2-135M-Instruct answers meanwhile." in text and fit(spark()).offers


def test_what_came_already_is_not_counted_twice() -> None:
    assert "To fetch: 26.0 GB (40.0 GB are here), 4 min at 100 MB/s" in said(spark(fetched=40 * 10**9))


def test_a_disk_that_is_too_small_is_told_before_the_first_byte() -> None:
    assert "Only 30.0 GB of disk are free" in said(spark(disk=30 * 10**9))
    assert "Only" not in said(spark(disk=30 * 10**9, fetched=40 * 10**9))


def test_where_the_model_is_here_nothing_is_offered() -> None:
    task = Task("rehearsal", "k", 8, 250.0)
    waiting = spark(path="/m", kernels=(task,))
    assert not fit(waiting).offers and "its start builds kernels first, 4 min 10 s last time" in said(waiting)
    assert "its kernels are built" in said(spark(path="/m", kernels=()))


def test_another_gpu_is_measured_by_its_own_memory() -> None:
    large = Facts(H200, 139 * GIB, 912 * 10**9)
    assert fit(large).offers and "This machine's H200 fits" in said(large) and "139.0 GiB of its own" in said(large)
    small = Facts(RTX, 24 * GIB, 912 * 10**9)
    assert not fit(small).offers and "RTX 4090 has 24.0 GiB, too few for Ling-3.0-flash-fp4" in said(small)


def test_what_is_in_the_way_is_named_with_the_way_out() -> None:
    found = fit(spark(obstacle="SGLang is not installed", way="pip install it."))
    assert (
        not found.offers and found.title.endswith("but SGLang is not installed.") and found.body[0] == "pip install it."
    )


def test_without_a_gpu_it_is_two_lines() -> None:
    for facts in (plain(), Facts(MACHINE, 10 * 1024 * GIB, 0)):
        found = notice(Standing(fit(facts), Step.OFFERED))
        assert not found.accept and found.dismissable
        assert len(notice_text(found, 77, 8).plain.splitlines()) == 2


@pytest.mark.parametrize(("width", "lines"), [(37, 10), (77, 12), (197, 25)])
@pytest.mark.parametrize("step", list(Step))
def test_every_step_fits_with_its_keys(width: int, lines: int, step: Step) -> None:
    texts = {
        Step.FETCHING: "31.2 of 66.0 GB, 84.1 MB/s, 6 min 53 s left", Step.STOPPED: "31.2 of 66.0 GB",
        Step.FAILED: "There is no network.", Step.BUILDING: "FlashInfer's fused experts: 12 of 97 steps (4 min)",
    }  # fmt: skip
    found = notice(Standing(fit(spark()), step, texts.get(step, ""), 0.47, "Start again."))
    shown = notice_text(found, width, lines).plain.splitlines()
    assert len(shown) <= lines and all(len(line) <= width for line in shown)
    assert "ctrl+g" in "\n".join(shown)
    if step is Step.OFFERED and width > 40:
        assert "answers meanwhile" in "\n".join(shown)
    assert LING.short in "\n".join(shown) or step in (Step.FAILED, Step.BUILDING)


def test_a_named_model_is_what_a_start_takes() -> None:
    found = notice(Standing(fit(spark()), Step.READY), named="x.gguf")
    assert not found.accept and "engine.model is x.gguf" in "\n".join(found.body)

"""`spark-chat prepare`: compile the kernels that the settings need, before the first chat pays for it."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING

import click

from spark_chat.cli.meter import Meter
from spark_chat.cli.options import narrate, narrate_problems, overridable, write

if TYPE_CHECKING:
    from spark_chat.settings.resolve import Resolved


@click.command("prepare", short_help="Compile the kernels that the settings need, with no model loaded.")
@click.option("--dry-run", is_flag=True, help="Say what would be compiled, and compile nothing.")
@click.option("--again", is_flag=True, help="Go through all of it once more.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@overridable
def command(resolved: Resolved, dry_run: bool, again: bool, as_json: bool) -> int:
    """Compile what the engine will need for the chosen model and settings: once for each version of SGLang, Triton,
    FlashInfer and Humming. llama.cpp's kernels come compiled. It can be stopped at any moment, and goes on from there.

    Exit code: 0 all is compiled, 1 it is not, 2 bad input, 130 ctrl+c.
    """
    from spark_chat.engine.client import EngineClient
    from spark_chat.headless.doctor_model import chosen
    from spark_chat.machine import machine
    from spark_chat.memory.meminfo import Memory, read
    from spark_chat.meters.units import seconds
    from spark_chat.prepare import plan
    from spark_chat.prepare.book import Book
    from spark_chat.prepare.prepare import left, prepare
    from spark_chat.prepare.rehearsal import PrepareProblem

    narrate_problems(resolved)
    here = machine()
    recipe = chosen(resolved.settings, here)
    if recipe is None:
        raise click.ClickException("The chosen model is not on this machine, or can't run on it: `spark-chat doctor`.")
    book, available = Book.here(), (read() or Memory()).available
    try:
        if again:
            book.forget()
        todo = left(recipe, here, book, available)
        for task in todo:
            took = f"{seconds(task.seconds)} last time" if task.seconds is not None else "minutes, the first time"
            narrate(f"To compile: {task.title} ({took}; {task.jobs} at a time).")
        if not todo:
            narrate(f"Nothing is left to compile for {recipe.model.name} on {recipe.engine}.")
        done = 0
        if not dry_run and todo:
            with Meter(sys.stderr) as meter:
                done = asyncio.run(prepare(recipe, here, book, available, meter.show, EngineClient))
    except PrepareProblem as problem:
        raise click.ClickException(str(problem)) from None
    except OSError as error:
        raise click.ClickException(f"What was compiled could not be noted: {error.strerror or error}.") from None
    except KeyboardInterrupt:
        narrate("Stopped. What was compiled is kept: the same command goes on from there.")
        raise
    if as_json:
        write(json.dumps({"engine": recipe.engine, "model": recipe.model.name, "compiled": done,
                          "left": [task.kind for task in todo[done:]], "estimate_s": plan.estimate(todo)}))  # fmt: skip
    return 0

"""`spark-chat check`: one prompt through the real engine, without the screen. Data on stdout, narration on stderr."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from spark_chat.cli.options import narrate, narrate_problems, overridable, write, write_answer
from spark_chat.cli.stopping import on_signals

if TYPE_CHECKING:
    from spark_chat.headless.check import Outcome
    from spark_chat.settings.resolve import Resolved
    from spark_chat.settings.schema import Settings


@click.command("check", short_help="Answer one prompt without the screen, with its numbers.")
@click.argument("file", required=False, metavar="[FILE|-]")
@click.option("--runs", type=click.IntRange(1, 10_000), default=1, show_default=True, help="How often to ask.")
@click.option("--max-tokens", type=click.IntRange(1, 1_048_576), help="Longest answer, as sampling.max_tokens.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout: numbers, badges, proofs, the text.")
@overridable
def command(resolved: Resolved, file: str | None, runs: int, max_tokens: int | None, as_json: bool) -> int:
    """Ask the prompt in FILE, or of stdin with "-", print the answer, and below it what it cost and which
    optimizations were seen at work.

    Without FILE a short prompt of our own is asked. Exit code: 0 fine, 1 the engine failed, 2 bad input, 130 ctrl+c
    (what was measured by then is still written).
    """
    from spark_chat.headless import prompt, report

    narrate_problems(resolved)
    try:
        text = prompt.read(file)
    except prompt.BadPrompt as problem:
        raise click.UsageError(str(problem)) from problem
    settings = resolved.settings
    if max_tokens is not None:
        settings = replace(settings, sampling=replace(settings.sampling, max_tokens=max_tokens))
    outcome = asyncio.run(_run(text, runs, settings, numbers=as_json))
    if as_json:
        write(json.dumps(report.as_json(outcome), indent=2, ensure_ascii=True))
    else:
        for answer in report.answers(outcome):
            write_answer(answer + "\n")
        for line in report.as_lines(outcome):
            write(line)
    for line in report.failure_lines(outcome):
        narrate(line)
    return report.exit_code(outcome)


async def _run(text: str, runs: int, settings: Settings, numbers: bool) -> Outcome:
    from spark_chat.driver.driver import Driver
    from spark_chat.headless.check import Check
    from spark_chat.headless.narrator import Narrator

    check = Check(lambda listener: Driver(listener), Narrator(narrate), numbers)
    on_signals(check.interrupt, narrate)
    return await check.run(text, runs, settings)

"""`spark-chat bench`: prompts under several settings, and the records of it. Data on stdout, narration on stderr."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spark_chat.cli.group import Group
from spark_chat.cli.lazy import BAD_INPUT, FAILED, INTERRUPTED
from spark_chat.cli.options import narrate, narrate_problems, overridable, write
from spark_chat.cli.stopping import on_signals

if TYPE_CHECKING:
    from spark_chat.lab.bench import Made
    from spark_chat.lab.plan import Plan
    from spark_chat.settings.resolve import Resolved


class BenchGroup(Group):
    """`bench --vary …` alone is `bench run --vary …`."""

    def meant(self, ctx: click.Context, name: str, rest: Sequence[str]) -> str:
        from spark_chat.lab.workload import is_workload

        if is_workload(name):
            return f"To measure these prompts: {ctx.command_path} run {' '.join([name, *rest])}"
        return super().meant(ctx, name, rest)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0].startswith("-") and args[0] not in ("-h", "--help"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


class BadInput(click.ClickException):
    """Said as it is, without the usage: the command was understood."""

    exit_code = BAD_INPUT


@click.group("bench", cls=BenchGroup)
def command() -> None:
    """Measure prompts under several settings, and look at what was measured."""


@command.command()
@click.argument("prompts", nargs=-1, metavar="[WORKLOAD|FILE|-]...")
@click.option(
    "--vary", "varied", multiple=True, metavar="KEY=A,B", help="Compare these values of a setting: mtp=off,on"
)
@click.option("--cumulative", is_flag=True, help="Add one --vary after the other, instead of all combinations.")
@click.option(
    "--rounds",
    type=click.IntRange(1, 1000),
    help="How often each prompt is asked: 3; of 12 prompts or more 2; of gsm8k 1.",
)
@click.option("--max-tokens", type=click.IntRange(2, 1_048_576), help="Longest answer; 40 for plain prompts.")
@click.option("--fixed-length", is_flag=True, help="Ignore the end of the text: every answer has --max-tokens tokens.")
@click.option("--sampled", is_flag=True, help="By the sampling of the settings, instead of the workload's (greedy).")
@click.option("--fresh", is_flag=True, help="Put a prefix before each prompt that no cache has seen.")
@click.option("--order", type=click.Choice(["auto", "interleaved", "ordered"]), default="auto", show_default=True,
              help="Whether configurations take turns; auto looks at how long a start takes.")  # fmt: skip
@click.option("--data", type=click.Path(path_type=str), metavar="FILE", help="gsm8k's questions, .parquet or .jsonl.")
@click.option("--questions", type=click.IntRange(1), help="At most so many of gsm8k.")
@click.option("--bandwidth", type=click.FloatRange(min=0.001), metavar="GB/S", help="The memory's, if you know it.")
@click.option("--resume", is_flag=True, help="Go on with the same run where it was cut off.")
@click.option("--no-save", is_flag=True, help="Keep no record.")
@click.option("--json", "as_json", is_flag=True, help="The whole record as one JSON object on stdout.")
@overridable
def run(
    resolved: Resolved,
    /,
    prompts: tuple[str, ...],
    varied: tuple[str, ...],
    cumulative: bool,
    resume: bool,
    no_save: bool,
    as_json: bool,
    bandwidth: float | None,
    **options: Any,
) -> int:
    """Ask prompts under every configuration and compare.

    WORKLOAD is chat, code (both where none is named), synthetic-32k-2k or gsm8k; FILE is JSONL with a prompt a line,
    or a text that is one prompt. Exit code: 0 fine, 1 no configuration ran, 2 bad input, 130 ctrl+c (what was measured
    by then is kept).
    """
    from spark_chat.lab import archive

    narrate_problems(resolved)
    plan = _plan(resolved, prompts, varied, cumulative, **options)
    going_on = archive.unfinished(plan.digest)
    if resume and going_on is None:
        raise BadInput("No run of these prompts under these settings was cut off. Start it without --resume.")
    if going_on is not None and not resume:
        narrate(f"A run of the same was cut off ({going_on.id}); --resume goes on with it.")
    made = asyncio.run(_run(plan, going_on if resume else None, keep=not no_save, gb_s=bandwidth))
    _show(made.record, as_json)
    if made.problem:
        narrate(made.problem)
    elif made.record["id"]:
        narrate(f"Kept as {made.record['id']}; `spark-chat bench show {made.record['id']}` shows it again.")
    if made.record["interrupted"]:
        if not no_save:
            narrate("Stopped. The same command with --resume goes on.")
        return INTERRUPTED
    return 0 if made.ran else FAILED


def _plan(
    resolved: Resolved,
    prompts: tuple[str, ...],
    varied: tuple[str, ...],
    cumulative: bool,
    *,
    data: str | None,
    questions: int | None,
    rounds: int | None,
    max_tokens: int | None,
    fixed_length: bool,
    **options: Any,
) -> Plan:
    """What was asked for. Raises BadInput."""
    from spark_chat.lab.compare import MEMORY_FRACTION
    from spark_chat.lab.item import BadWorkload
    from spark_chat.lab.plan import Plan, origins
    from spark_chat.lab.variation import BadVariation, axes, configurations
    from spark_chat.lab.workload import workload

    try:
        found = axes(varied)
        work = workload(prompts, data, questions)
        if work.extraction and any(item.key.endswith(MEMORY_FRACTION) for item in found):
            raise BadVariation(f"{MEMORY_FRACTION} can't be varied where answers are judged: it must match.")
        return Plan(
            configurations(resolved.settings, found, cumulative), work, rounds or work.rounds, max_tokens=max_tokens,
            ignore_eos=fixed_length, cumulative=cumulative, keys=tuple(item.key for item in found),
            origins=origins(resolved), **options,
        )  # fmt: skip
    except (BadWorkload, BadVariation) as problem:
        raise BadInput(str(problem)) from None


async def _run(plan: Plan, going_on: Any, *, keep: bool, gb_s: float | None) -> Made:
    from spark_chat.lab.bench import Bench
    from spark_chat.lab.narration import Narration

    bench = Bench(plan, Narration(plan, narrate), keep=keep, going_on=going_on, gb_s=gb_s)
    on_signals(bench.interrupt, narrate)
    return await bench.run()


def _show(record: dict[str, Any], as_json: bool) -> None:
    from spark_chat.lab import report

    if as_json:
        write(json.dumps(record, indent=2, ensure_ascii=True))
    else:
        for line in report.as_lines(record, shutil.get_terminal_size((120, 24)).columns):
            write(line)


def _load(name: str) -> dict[str, Any]:
    from spark_chat.lab import archive

    try:
        return archive.load(name)
    except archive.NoRecord as problem:
        raise BadInput(str(problem)) from None


@command.command()
@click.argument("record", default="last")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def show(record: str, as_json: bool) -> None:
    """Show a RECORD: its id or the beginning of it, a file, or "last"."""
    _show(_load(record), as_json)


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="As JSON, without the runs.")
def list_(as_json: bool) -> None:
    """List the records, the oldest first."""
    from spark_chat.lab import archive, listing

    records = archive.everything()
    if as_json:
        write(json.dumps([listing.brief(record) for record in records], indent=2))
        return
    if not records:
        narrate("There are no records yet. `spark-chat bench run` makes one.")
    for line in listing.lines(records):
        write(line)


@command.command()
@click.argument("first")
@click.argument("other")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def diff(first: str, other: str, as_json: bool) -> None:
    """Compare two records, of one machine or of two."""
    from spark_chat.lab import compare, listing

    before, after = _load(first), _load(other)
    try:
        found = compare.diff(before, after)
    except compare.NotComparable as problem:
        raise BadInput("These records can't be compared.\n" + "\n".join(problem.reasons)) from None
    if as_json:
        write(json.dumps({"first": before["id"], "other": after["id"], "configurations": found}, indent=2))
        return
    for line in listing.diff_lines(before, after, found):
        write(line)


@command.command()
@click.argument("record", default="last")
@click.option("--format", "kind", type=click.Choice(["markdown", "csv", "svg", "json"]),
              help="Else by the name of --output; Markdown.")  # fmt: skip
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to this file instead of stdout.")
def export(record: str, kind: str | None, output: Path | None) -> None:
    """Write a RECORD as a Markdown table, CSV, an SVG chart or JSON."""
    from spark_chat.lab import report

    known = {".md": "markdown", ".csv": "csv", ".svg": "svg", ".json": "json"}
    suffix = output.suffix.lower() if output else ""
    if kind is None and output is not None and suffix not in known:
        raise BadInput(f"{output.name} says no format. Name it .md, .csv, .svg or .json, or give --format.")
    found = _load(record)
    kind = kind or known.get(suffix, "markdown")
    if kind == "svg":
        from spark_chat.lab import plot

        content = plot.svg(found)
    elif kind == "json":
        content = json.dumps(found, indent=2).encode() + b"\n"
    else:
        content = (report.as_csv(found) if kind == "csv" else report.as_markdown(found)).encode("utf-8", "replace")
    if output is None:
        click.echo(content, nl=False)
        return
    try:
        output.write_bytes(content)
    except OSError as error:
        raise click.ClickException(f"{output} can't be written: {error.strerror or error}.") from None
    narrate(f"Written to {output}.")

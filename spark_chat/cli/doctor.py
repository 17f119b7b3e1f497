"""`spark-chat doctor`: what this machine has and lacks, and what to do about it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from spark_chat.cli.options import narrate, overridable, write

if TYPE_CHECKING:
    from spark_chat.settings.resolve import Resolved


@click.command("doctor", short_help="Say what this machine has and lacks, and what to do.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@click.option("--fix", is_flag=True, help="Put right what can be put right safely, then look again.")
@overridable
def command(resolved: Resolved, as_json: bool, fix: bool) -> int:
    """Look at machine, GPU, Python, engines, model, memory, folders, settings and terminal. Nothing is fetched, and
    without --fix nothing is written. --fix never deletes what is yours, ends no program, and needs no root.

    Exit code: 0 where no line is wrong, else 1.
    """
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
    return 1 if any(finding.level == "wrong" for finding in findings) else 0

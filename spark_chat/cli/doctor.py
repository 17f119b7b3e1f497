"""`spark-chat doctor`: what this machine has and lacks, and what to do about it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from spark_chat.cli.options import overridable, write

if TYPE_CHECKING:
    from spark_chat.settings.resolve import Resolved


@click.command("doctor", short_help="Say what this machine has and lacks, and what to do.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
@overridable
def command(resolved: Resolved, as_json: bool) -> int:
    """Look at machine, Python, engines, model, folders, settings and terminal. Nothing is fetched or written.

    Exit code: 0 where no line is wrong, else 1.
    """
    from spark_chat.headless import doctor
    from spark_chat.machine import machine

    findings = list(doctor.examine(resolved, machine()))
    if as_json:
        write(json.dumps(doctor.as_json(findings), indent=2, ensure_ascii=True))
    else:
        for line in doctor.as_lines(findings):
            write(line)
    return 1 if any(finding.level == "wrong" for finding in findings) else 0

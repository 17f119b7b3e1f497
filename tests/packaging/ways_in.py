"""pipx and uv: installs this checkout with each into folders of its own, chats, takes it away, and finds nothing left.

    python tests/packaging/ways_in.py MODEL.gguf [pipx] [uv] [--spark]

pipx and uv themselves come into a virtual environment that goes away with the rest; packages come from the index that
pip is set to. Takes some minutes. `--spark` installs with the extra of that name, SGLang and PyTorch: 12 GB of disk for
each and as long as their download takes; `.ci/run` leaves it out. Exit status 1 where one of the ways does not work.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Way:
    """`tools`: the virtual environment with pipx and uv. `folder`: all that is installed goes below it.
    `spark`: with SGLang and PyTorch."""

    tools: Path
    folder: Path
    spark: bool = False

    @property
    def checkout(self) -> str:
        return f"{ROOT}[spark]" if self.spark else str(ROOT)

    @property
    def environment(self) -> dict[str, str]:
        inherited = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "SPARK_CHAT", "VIRTUAL_ENV", "XDG_"))
        }  # fmt: skip
        home = self.folder / "home"
        return inherited | {
            "HOME": str(home), "PATH": os.pathsep.join([str(self.tools / "bin"), "/usr/bin", "/bin"]),
            "PIPX_HOME": str(self.folder / "pipx"), "PIPX_BIN_DIR": str(self.folder / "bin"),
            "PIPX_MAN_DIR": str(self.folder / "man"), "PIPX_DEFAULT_PYTHON": sys.executable,
            "UV_TOOL_DIR": str(self.folder / "uv"), "UV_TOOL_BIN_DIR": str(self.folder / "bin"),
            "UV_CACHE_DIR": str(self.folder / "uv-cache"), "UV_PYTHON": sys.executable, "UV_PYTHON_DOWNLOADS": "never",
            "XDG_RUNTIME_DIR": str(self.folder / "runtime"), "LANG": "C.UTF-8", "TERM": "xterm",
        }  # fmt: skip

    def run(self, *command: str | Path, check: bool = True, typed: str = "") -> str:
        """What it says on stdout to what is `typed`. Away from the checkout: nothing of it is imported by chance."""
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, input=typed, capture_output=True, text=True,
            timeout=3600 if self.spark else 900, check=False,
        )  # fmt: skip
        if check and done.returncode:
            sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    @property
    def program(self) -> Path:
        return self.folder / "bin" / "spark-chat"


def with_pipx(way: Way) -> None:
    way.run("pipx", "install", way.checkout)


def without_pipx(way: Way) -> None:
    way.run("pipx", "uninstall", "spark-chat")


def with_uv(way: Way) -> None:
    way.run("uv", "tool", "install", "--no-config", way.checkout)


def without_uv(way: Way) -> None:
    way.run("uv", "tool", "uninstall", "spark-chat")


WAYS: dict[str, tuple[Callable[[Way], None], Callable[[Way], None], str]] = {
    "pipx": (with_pipx, without_pipx, "pipx/venvs/spark-chat"), "uv": (with_uv, without_uv, "uv/spark-chat"),
}  # fmt: skip


def visit(name: str, way: Way, model: Path) -> None:
    """Install, chat, take away."""
    install, remove, inside = WAYS[name]
    for folder in ("home", "runtime"):
        (way.folder / folder).mkdir(mode=0o700)
    said(f"{name}: installing")
    install(way)
    assert "spark-chat, version" in way.run(way.program, "--version")
    said(f"{name}: chatting")
    asked = way.run(way.program, "check", "--json", "--max-tokens", "16", "--model", str(model))
    assert json.loads(asked)["runs"][0]["completion_tokens"] > 0, asked
    doctor = json.loads(way.run(way.program, "doctor", "--json", check=False))
    levels = {finding["name"]: finding["level"] for finding in doctor["findings"]}
    assert levels["llama.cpp"] == levels["Python"] == "fine", doctor
    if way.spark:
        expect_spark(way, {finding["name"]: finding["text"] for finding in doctor["findings"]})
    assert way.run(way.program, "--plain", "--model", str(model), typed="Name a colour.\n").strip(), "no answer"
    assert "/resume" in way.run(way.program, "help", "commands")
    own = way.folder / inside / "bin" / "python"
    way.run(own, "-P", "-m", "pip", "--version")  # the small model of a first start comes through it
    themes = "from spark_chat.tui.themes import load; print(len(load().themes))"
    assert int(way.run(own, "-P", "-c", themes)) > 2, "themes come along"
    said(f"{name}: removing")
    remove(way)
    assert not way.program.exists() and not (way.folder / inside).exists()
    mine = sorted(path for path in (way.folder / "home").rglob("*") if path.is_file())
    assert any("spark-chat" in str(path) for path in mine), "the person's own files stay"


def expect_spark(way: Way, found: dict[str, str]) -> None:
    """SGLang is there; where no GPU is, that is said, and the chat stays on llama.cpp."""
    said(f"SGLang: {found['SGLang']} Model: {found['model']}")
    assert "is installed" in found["SGLang"] and "not installed" not in found["SGLang"], found


def said(text: str) -> None:
    print(f"... {text}", flush=True)


def main(arguments: list[str]) -> int:
    spark = "--spark" in arguments
    arguments = [argument for argument in arguments if argument != "--spark"]
    if not arguments or set(arguments[1:]) - set(WAYS):
        sys.exit(__doc__)
    model = Path(arguments[0]).resolve()
    with tempfile.TemporaryDirectory(prefix="spark-chat-ways.") as work:
        tools = Path(work) / "tools"
        said("fetching pipx and uv")
        subprocess.run([sys.executable, "-m", "venv", tools], check=True)
        subprocess.run([tools / "bin" / "pip", "-q", "install", "pipx", "uv"], check=True)
        for name in arguments[1:] or WAYS:
            folder = Path(work) / name
            folder.mkdir()
            visit(name, Way(tools, folder, spark), model)
    print("Both work." if len(arguments) == 1 else f"{' and '.join(arguments[1:])}: fine.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The .deb on a bare system: built, installed, chatted with, removed, and nothing left but the person's own files.

    python tests/packaging/clean_root.py MODEL.gguf [--suite bookworm] [--deb FILE]

Needs root, debootstrap and dpkg-deb. Takes a few minutes, most of it for the bare system and the build.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = {"bookworm": "3.11", "noble": "3.12", "trixie": "3.13"}
"""Suite -> its Python."""
NOT_OURS = ("proc", "dev", "tmp", "var/lib/dpkg", "var/cache", "var/log", "home")
"""What a package manager or a person writes to."""
PERSON = "person"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--suite", choices=sorted(PYTHONS), default="bookworm")
    parser.add_argument("--deb", type=Path, help="one that is built already")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="spark-chat-root.") as work:
        deb = given.deb or built(Path(work), PYTHONS[given.suite])
        system = System(Path(work) / "root")
        system.make(given.suite, PYTHONS[given.suite])
        visit(system, deb, given.model)
    print("Installed, chatted, removed; nothing was left.")
    return 0


def built(folder: Path, python: str) -> Path:
    said("building the .deb")
    command = [str(ROOT / "packaging/build-deb"), "--python", python, "--out", str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env={**os.environ, "PYTHON": sys.executable})
    return Path(done.stdout.decode().split()[-1])


class System:
    """A bare system in a folder. Commands run in a mount namespace of their own: no mount stays behind."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def make(self, suite: str, python: str) -> None:
        said(f"making a bare {suite}")
        include = f"--include=python{python},libgomp1,libstdc++6"
        log = self.root.with_name("debootstrap.log")
        with log.open("wb") as output:
            code = subprocess.call(
                ["debootstrap", "--variant=minbase", include, suite, str(self.root)], stdout=output, stderr=output
            )
        if code:
            sys.exit(f"debootstrap ended with {code}:\n{log.read_text()[-2000:]}")
        self.run("useradd", "--create-home", PERSON)

    def run(self, *command: str, person: bool = False, check: bool = True) -> subprocess.CompletedProcess[str]:
        """As root, or as the person in their own home."""
        inside = ["chroot", *(["--userspec", f"{PERSON}:{PERSON}"] if person else []), str(self.root), *command]
        script = f'mount -t proc proc "{self.root}/proc" && exec "$@"'
        home = f"/home/{PERSON}" if person else "/root"
        environment = {"HOME": home, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "TERM": "xterm"}
        done = subprocess.run(
            ["unshare", "--mount", "sh", "-c", script, "sh", *inside],
            env=environment, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        if check and done.returncode:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done

    def files(self) -> dict[str, str]:
        """Every path with what it is: a link's target, a file's hash."""
        found = {}
        for folder, folders, names in os.walk(self.root):
            here = Path(folder).relative_to(self.root)
            folders[:] = [name for name in folders if str(here / name) not in NOT_OURS]
            for name in [*folders, *names]:
                path = Path(folder) / name
                found[str(here / name)] = _what(path)
        return found


def visit(system: System, deb: Path, model: Path) -> None:
    for source, name in ((deb, "spark-chat.deb"), (model, "model.gguf")):
        shutil.copy(source, system.root / "tmp" / name)
        (system.root / "tmp" / name).chmod(0o644)
    before = system.files()
    said("installing")
    system.run("dpkg", "-i", "/tmp/spark-chat.deb")
    assert system.run("dpkg", "--verify", "spark-chat").stdout == "", "a file differs from the package's own"
    for path in (
        "usr/share/applications/spark-chat.desktop", "usr/share/icons/hicolor/scalable/apps/spark-chat.svg",
        "usr/share/man/man1/spark-chat.1.gz", "usr/share/bash-completion/completions/spark-chat",
        "usr/share/zsh/vendor-completions/_spark-chat", "usr/share/fish/vendor_completions.d/spark-chat.fish",
    ):  # fmt: skip
        assert (system.root / path).is_file(), path
    said("chatting")
    assert "spark-chat, version" in system.run("spark-chat", "--version", person=True).stdout
    asked = system.run(
        "spark-chat", "check", "--json", "--max-tokens", "16", "--model", "/tmp/model.gguf", person=True
    ).stdout
    answer = json.loads(asked)
    assert "llama.cpp" in asked and answer["runs"][0]["completion_tokens"] > 0, asked
    doctor = system.run("spark-chat", "doctor", "--json", person=True, check=False)
    levels = {finding["name"]: finding["level"] for finding in json.loads(doctor.stdout)["findings"]}
    assert levels["llama.cpp"] == levels["Python"] == "fine", doctor.stdout
    for name in ("models", "history", "logs", "stop", "help"):
        assert name in completed(system, name[:3]), "a shell completes commands"
    assert system.run("spark-chat", "pull", "--from", "/tmp/model.gguf", person=True).returncode == 0
    said("removing")
    system.run("dpkg", "--purge", "spark-chat")
    after = system.files()
    left = sorted(path for path in after if after[path] != before.get(path))
    gone = sorted(path for path in before if path not in after)
    assert not left and not gone, f"left behind: {left[:20]}; taken away: {gone[:20]}"
    mine = sorted(str(path) for path in (system.root / "home" / PERSON).rglob("*") if path.is_file())
    assert any("spark-chat" in path for path in mine), "the person's own files stay"


def completed(system: System, word: str) -> str:
    line = f'_SPARK_CHAT_COMPLETE=bash_complete COMP_WORDS="spark-chat {word}" COMP_CWORD=1 spark-chat'
    return system.run("sh", "-c", line, person=True).stdout


def _what(path: Path) -> str:
    if path.is_symlink():
        return f"link to {path.readlink()}"
    if path.is_dir():
        return "folder"
    return hashlib.blake2b(path.read_bytes()).hexdigest() if path.is_file() else "special"


def said(text: str) -> None:
    print(f"... {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

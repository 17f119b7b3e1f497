"""The files of the package, laid out as they will lie on the machine."""

from __future__ import annotations

import gzip
import re
import shutil
from email.parser import HeaderParser
from pathlib import Path

import manpage
import wheels

HOME = Path("usr/lib/spark-chat")
LAUNCHER = """#!/usr/lib/spark-chat/bin/python3 -I
from spark_chat.cli.main import main

main(prog_name="spark-chat")
"""


def lay_out(root: Path, staged: Path, target: wheels.Target, work: Path) -> None:
    """All of it below `staged`. `work`: a folder for what is needed on the way."""
    home = staged / HOME
    site = home / "lib" / f"python{target.python}" / "site-packages"
    site.mkdir(parents=True)
    wheels.install(wheels.collect(root, target, work), target, site)
    shutil.rmtree(site / "bin", ignore_errors=True)
    for folder in [*site.glob("numpy/**/tests"), *site.rglob("__pycache__")]:
        shutil.rmtree(folder, ignore_errors=True)
    _interpreter(home, target.python)
    _write(staged / "usr/bin/spark-chat", LAUNCHER, 0o755)
    _completions(staged)
    _desktop(root, staged)
    _documents(root, staged, site)
    for path in [staged, *staged.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
        elif not path.is_symlink():
            path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)


def _interpreter(home: Path, python: str) -> None:
    """What makes it a virtual environment of the system's Python: a link and a note, nothing of any architecture."""
    (home / "bin").mkdir()
    (home / "bin" / "python3").symlink_to(f"/usr/bin/python{python}")
    (home / "bin" / "python").symlink_to("python3")
    _write(
        home / "pyvenv.cfg",
        f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {python}\n"
        f"executable = /usr/bin/python{python}\n",
    )


def _completions(staged: Path) -> None:
    from spark_chat.cli.completion import script

    _write(staged / "usr/share/bash-completion/completions/spark-chat", script("bash"))
    _write(staged / "usr/share/zsh/vendor-completions/_spark-chat", script("zsh"))
    _write(staged / "usr/share/fish/vendor_completions.d/spark-chat.fish", script("fish"))


def _desktop(root: Path, staged: Path) -> None:
    source = root / "packaging" / "desktop"
    _write(staged / "usr/share/applications/spark-chat.desktop", (source / "spark-chat.desktop").read_text())
    _write(staged / "usr/share/icons/hicolor/scalable/apps/spark-chat.svg", (source / "spark-chat.svg").read_text())


def _documents(root: Path, staged: Path, site: Path) -> None:
    from spark_chat import __version__

    _compressed(staged / "usr/share/man/man1/spark-chat.1.gz", manpage.page())
    documents = staged / "usr/share/doc/spark-chat"
    _write(documents / "copyright", licences(site))
    changes = f"spark-chat ({__version__}) stable; urgency=medium\n\n  * See the README.\n\n -- spark-chat\n"
    _compressed(documents / "changelog.gz", changes)
    _write(documents / "README.md", (root / "README.md").read_text())
    for page in sorted((root / "docs").glob("*.md")):
        _write(documents / "docs" / page.name, page.read_text())


def licences(site: Path) -> str:
    """What is in the package, and under which licence each part says that it is."""
    lines = [
        "spark-chat is under the Apache License 2.0; on Debian its text is /usr/share/common-licenses/Apache-2.0.",
        "",
        "The package holds these parts beside it, unchanged, each with its own licence in its .dist-info folder below",
        f"/{HOME}:",
        "",
    ]
    for folder in sorted(site.glob("*.dist-info"), key=lambda folder: folder.name.lower()):
        about = HeaderParser().parsestr((folder / "METADATA").read_text(errors="replace"))
        if about["Name"] == "spark-chat":
            continue
        classified = [text.rpartition(" :: ")[2] for text in about.get_all("Classifier", []) if "License ::" in text]
        said = about["License-Expression"] or (about["License"] or "").strip().split("\n")[0] or ", ".join(classified)
        lines.append(f"  {about['Name']} {about['Version']}: {said[:100] or 'see its folder'}")
    return "\n".join(re.sub(r"[^\x20-\x7e]", "?", line) for line in lines) + "\n"


def _compressed(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)

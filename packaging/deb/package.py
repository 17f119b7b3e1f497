"""The control files, and the .deb itself."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import wheels

SCRIPTS = {
    # Compiled once here, since the folder is not the user's to write in: a start takes half the time.
    "postinst": """#!/bin/sh
set -e
if [ "$1" = configure ]; then
    /usr/lib/spark-chat/bin/python3 -m compileall -q -j 0 /usr/lib/spark-chat/lib >/dev/null 2>&1 || true
fi
""",
    "prerm": """#!/bin/sh
set -e
find /usr/lib/spark-chat -depth -type d -name __pycache__ -exec rm -rf {} + 2>/dev/null || true
""",
    # What was added to its environment by hand (SGLang, say) goes with it; nothing of a person's lies there.
    "postrm": """#!/bin/sh
set -e
case "$1" in remove|purge) rm -rf /usr/lib/spark-chat ;; esac
""",
}


def build(root: Path, staged: Path, target: wheels.Target, out: Path) -> Path:
    """The .deb's path."""
    from spark_chat import __version__

    control = staged / "DEBIAN"
    control.mkdir(mode=0o755)
    files = sorted(path for path in staged.rglob("*") if path.is_file() and not path.is_symlink())
    sums = [f"{_md5(path)}  {path.relative_to(staged)}" for path in files if control not in path.parents]
    (control / "md5sums").write_text("\n".join(sums) + "\n")
    size = sum(path.stat().st_size for path in files) // 1024
    (control / "control").write_text(fields(__version__, target, size))
    for name, text in SCRIPTS.items():
        (control / name).write_text(text)
        (control / name).chmod(0o755)
    path = out / f"spark-chat_{__version__}_{target.architecture}.deb"
    environment = {"SOURCE_DATE_EPOCH": "0", **os.environ}
    command = ["dpkg-deb", "--root-owner-group", "-Zzstd", "-z9", "--build", str(staged), str(path)]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return path


def fields(version: str, target: wheels.Target, size: int) -> str:
    """The control file. `size`: KiB when installed."""
    return f"""Package: spark-chat
Version: {version}
Architecture: {target.architecture}
Maintainer: spark-chat <spark-chat@localhost>
Installed-Size: {size}
Depends: python{target.python}, libc6 (>= 2.34), libgomp1, libstdc++6
Recommends: ca-certificates
Suggests: bash-completion, gcc, ninja-build, python3-dev
Section: utils
Priority: optional
Description: terminal chat with a model on this machine, with true numbers
 A chat for one person at one machine, a DGX Spark above all. It drives an
 embedded engine and shows, live, tokens per second, accept length, and which
 optimizations were seen at work.
 .
 All Python packages that it needs are inside: nothing is fetched at install.
"""


def _md5(path: Path) -> str:
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()

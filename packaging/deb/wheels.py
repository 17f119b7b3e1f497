"""The wheels that go into the package, for a machine that need not be this one."""

from __future__ import annotations

import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

PLATFORMS = {"amd64": "x86_64", "arm64": "aarch64"}
GLIBC = ("2_34", "2_31", "2_28", "2_27", "2_17")
"""manylinux tags that Ubuntu 24.04 and Debian 12 can run, newest first."""
EXTRAS = "pull"
"""Fetching models works without a further step."""


@dataclass(frozen=True)
class Target:
    """`architecture`: Debian's name; `python`: "3.12"."""

    architecture: str
    python: str

    @property
    def pip(self) -> list[str]:
        """pip's options for wheels of that machine."""
        tags = [f"manylinux_{glibc}_{PLATFORMS[self.architecture]}" for glibc in GLIBC]
        tags.append(f"manylinux2014_{PLATFORMS[self.architecture]}")
        short = self.python.replace(".", "")
        abis = [f"cp{short}", "abi3", "none"]
        options = ["--only-binary=:all:", "--implementation", "cp", "--python-version", self.python]
        return options + [word for tag in tags for word in ("--platform", tag)] + [
            word for abi in abis for word in ("--abi", abi)
        ]  # fmt: skip


def this_architecture() -> str:
    machine = platform.machine()
    return next((name for name, kernel in PLATFORMS.items() if kernel == machine), "amd64")


def collect(root: Path, target: Target, folder: Path) -> Path:
    """The app's wheel and all that it needs, in `folder`."""
    own = folder / "own"
    _pip("wheel", "--quiet", "--quiet", "--no-deps", "--wheel-dir", str(own), str(root))
    app = next(own.glob("spark_chat-*.whl"))
    kept = folder / "wheels"
    _pip(
        "download",
        "--quiet",
        "--quiet",
        "--dest",
        str(kept),
        *target.pip,
        f"spark-chat[{EXTRAS}] @ file://{app}",
    )
    return kept


def install(wheels: Path, target: Target, site: Path) -> None:
    """Unpack them into `site`, without the network."""
    files = sorted(str(wheel) for wheel in wheels.glob("*.whl"))
    _pip(
        "install",
        "--quiet",
        "--quiet",
        "--no-index",
        "--no-deps",
        "--no-compile",
        "--target",
        str(site),
        *target.pip,
        *files,
    )


def _pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments], check=True)

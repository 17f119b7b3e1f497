"""Builds the .deb: the app and all that it needs in one folder, made of wheels; nothing is compiled, so that either
architecture can be built on either."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # the app of this checkout, for its commands and its version

import package  # noqa: E402
import tree  # noqa: E402
import wheels  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(prog="packaging/build-deb", description=__doc__)
    parser.add_argument("--arch", choices=sorted(wheels.PLATFORMS), default=wheels.this_architecture())
    parser.add_argument("--python", default="3.12", help="that of the system it is for (default: %(default)s, DGX OS)")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="folder for the .deb (default: dist)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="spark-chat-deb.") as work:
        staged = Path(work) / "root"
        target = wheels.Target(given.arch, given.python)
        tree.lay_out(ROOT, staged, target, Path(work))
        given.out.mkdir(parents=True, exist_ok=True)
        print(package.build(ROOT, staged, target, given.out.resolve()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

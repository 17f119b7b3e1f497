"""Hugging Face's own cache layout: contents under their hash, a snapshot of links a commit, a file a name.

Other programs share it. A content appears under its hash only once it was checked; a snapshot only once it is whole.
"""

from __future__ import annotations

import os
from pathlib import Path

from spark_chat.pull.plan import File, Plan

PARTIAL = ".incomplete"


class Repository:
    """One repository's folder in the cache."""

    def __init__(self, cache: Path, name: str) -> None:
        self.folder = cache / ("models--" + name.replace("/", "--"))
        self.lock = cache / ".locks" / self.folder.name / "spark-chat.lock"

    def blob(self, file: File) -> Path:
        return self.folder / "blobs" / file.key

    def partial(self, file: File) -> Path:
        """What has come of it so far."""
        return self.folder / "blobs" / (file.key + PARTIAL)

    def pointer(self, plan: Plan, file: File) -> Path:
        return self.folder / "snapshots" / plan.commit / file.path

    def held(self, plan: Plan, file: File) -> Path | None:
        """Where its whole content lies, by its size alone."""
        for path in (self.blob(file), self.pointer(plan, file)):
            try:
                if path.stat().st_size == file.size:
                    return path
            except OSError:
                continue
        return None

    def present(self, plan: Plan) -> int:
        """Bytes that are here, whole files and parts."""
        total = 0
        for file in {file.key: file for file in plan.files}.values():
            if self.held(plan, file) is not None:
                total += file.size
            else:
                try:
                    total += min(self.partial(file).stat().st_size, file.size)
                except OSError:
                    continue
        return total

    def link(self, plan: Plan, revision: str) -> Path:
        """Make the snapshot, weights first, what makes it a model last; then the name. Raises OSError."""
        for file in sorted(plan.files, key=lambda file: (file.path == "config.json", file.path)):
            pointer, blob = self.pointer(plan, file), self.blob(file)
            if pointer.exists() and not pointer.is_symlink():
                continue  # a disk without links: the file itself lies here
            pointer.parent.mkdir(parents=True, exist_ok=True)
            target = os.path.relpath(blob, pointer.parent)
            if pointer.is_symlink():
                if pointer.readlink() == Path(target):
                    continue
                pointer.unlink()
            try:
                pointer.symlink_to(target)
            except OSError:
                blob.replace(pointer)
        if revision != plan.commit:
            ref = self.folder / "refs" / revision
            ref.parent.mkdir(parents=True, exist_ok=True)
            written = ref.with_name(f".{ref.name}.spark-chat")
            written.write_text(plan.commit)
            written.replace(ref)
        return self.folder / "snapshots" / plan.commit

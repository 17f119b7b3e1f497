"""What is on this machine's shelf: each model that can be named, its size, whether it is whole, and taking it away."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from spark_chat import locations
from spark_chat.models import find, sanity
from spark_chat.models.sanity import ModelProblem
from spark_chat.recipe.recipe import ModelRef

Where = Literal["own", "link", "hugging face", "modelscope"]
PLACES: dict[Where, str] = {
    "own": "the app's folder",
    "link": "registered in place",
    "hugging face": "Hugging Face's cache",
    "modelscope": "ModelScope's cache",
}


@dataclass(frozen=True)
class Book:
    """One model. `size`: bytes on disk. `fault`: why it can't be used, a sentence; "" where it can. `removes`: what
    taking it away deletes: for one that is registered in place the link alone."""

    name: str
    path: Path
    where: Where
    size: int
    fault: str
    removes: tuple[Path, ...]

    @property
    def frees(self) -> int:
        """Bytes that taking it away frees."""
        return 0 if self.where == "link" else sum(map(_size, self.removes))


def books() -> list[Book]:
    """Every model that can be named, those that are not whole too."""
    return [_book(ref) for ref in find.known()]


def book(name: str) -> Book:
    """The one called `name`. Raises ModelProblem."""
    ref = find.find(name)
    for candidate in books():
        if candidate.path == Path(ref.path):
            return candidate
    raise ModelProblem(f"{name} is a path outside of the app's and the hubs' folders. Delete it yourself, if you will.")


def unfinished() -> list[tuple[str, int]]:
    """Repositories of which a part came, by name, with its bytes."""
    found = []
    try:
        parts = sorted(locations.hugging_face_cache().glob("models--*/blobs/*.incomplete"))
    except (OSError, RuntimeError):
        return []
    for folder in sorted({part.parent.parent for part in parts}):
        if find.snapshot_of(folder) is None:
            found.append(("/".join(folder.name.split("--", 2)[1:]), _size(folder)))
    return found


def take_away(book: Book) -> None:
    """Delete it, and nothing else. Raises OSError."""
    for path in book.removes:
        if path.is_symlink() or path.is_file():
            path.unlink()
        else:
            shutil.rmtree(path)


def _book(ref: ModelRef) -> Book:
    path = Path(ref.path)
    where, removes = _place(path)
    try:
        find.at(path)
        fault = ""
    except ModelProblem as problem:
        fault = str(problem)
    return Book(ref.name, path, where, sum(map(_size, _parts(path))), fault, removes)


def _place(path: Path) -> tuple[Where, tuple[Path, ...]]:
    """Where it is kept, and all that belongs to it there."""
    for folder in (path, *path.parents):
        if folder.parent == locations.hugging_face_cache() and folder.name.startswith("models--"):
            return "hugging face", (folder,)
        if folder.parent == locations.modelscope_cache() / "models" and "--" in folder.name:
            return "modelscope", (folder,)
    if path.is_relative_to(locations.modelscope_cache()):
        return "modelscope", (path,)
    return ("link", (path,)) if path.is_symlink() else ("own", tuple(_parts(path)))


def _parts(path: Path) -> list[Path]:
    """The files of a model in several .gguf files; `path` alone else."""
    stem = path.name.partition("-00001-of-")[0]
    if stem == path.name:
        return [path]
    return [path, *(file for file in sorted(path.parent.glob(f"{stem}-*.gguf")) if sanity.is_later_part(file))]


def _size(path: Path) -> int:
    """Bytes of all files below, each once, however many links lead to it."""
    seen: set[tuple[int, int]] = set()
    total = 0
    files = [path] if path.is_file() else [Path(root) / name for root, _, names in os.walk(path) for name in names]
    for file in files:
        try:
            about = file.stat()
        except OSError:
            continue
        if (about.st_dev, about.st_ino) not in seen:
            seen.add((about.st_dev, about.st_ino))
            total += about.st_size
    return total

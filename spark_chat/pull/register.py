"""A model that is on this machine already, made known by a link in the app's models folder. Nothing is copied."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from spark_chat import locations
from spark_chat.models import sanity
from spark_chat.models.find import as_file_name, snapshot_of
from spark_chat.models.sanity import ModelProblem
from spark_chat.pull import safetensors
from spark_chat.pull.hashes import over
from spark_chat.pull.plan import File

_HASH = re.compile(r"[0-9a-f]{64}|[0-9a-f]{40}")


@dataclass(frozen=True)
class Registered:
    """`checked`: files whose hash was known and right; `looked_at`: those of which the form alone could be checked."""

    name: str
    path: Path
    checked: int
    looked_at: int


def register(source: Path, name: str, tell: Callable[[str, int, int], None]) -> Registered:
    """Check what lies at `source` (a .gguf, a checkpoint's folder, or a repository's folder of a cache) and link it.

    `name`: "" takes the folder's own. tell(file, bytes so far, bytes in all) while hashes are compared. Raises
    ModelProblem, OSError or NoHome.
    """
    if not source.exists():
        raise ModelProblem(f"There is nothing at {source}. Name a .gguf file or a checkpoint's folder.")
    model, own = _model(source.absolute())
    name = name or own
    if model.is_dir():
        sanity.check_checkpoint(model)
        checked, looked_at = _verify(model, tell)
    else:
        sanity.check_gguf(model)
        checked, looked_at = 0, 1
    link = locations.made(locations.models()) / as_file_name(name, model)
    if link.resolve() != model.resolve():
        if link.exists() and not link.is_symlink():
            raise ModelProblem(
                f"{link} is a model of its own already. Give another name, or `spark-chat models rm` it."
            )
        fresh = link.with_name(f".{link.name}.{os.getpid()}")
        fresh.symlink_to(model)
        fresh.replace(link)
    return Registered(name, model, checked, looked_at)


def _model(source: Path) -> tuple[Path, str]:
    """Where the model itself lies, and its name."""
    if source.is_file():
        return source, source.name.removesuffix(".gguf")
    if source.name.startswith("models--"):
        snapshot = snapshot_of(source)
        if snapshot is None:
            raise ModelProblem(
                f"{source} is a cache's folder without a whole snapshot in it. Fetch it again, or name a folder with a "
                "config.json."
            )
        return snapshot, "/".join(source.name.split("--", 2)[1:])
    inside = sorted(source.glob("models--*--*"))
    if len(inside) == 1:
        return _model(inside[0])
    if inside:
        shown = ", ".join(folder.name for folder in inside[:5])
        raise ModelProblem(f"{source} holds {len(inside)} models: name one of {shown}.")
    models = [file for file in sorted(source.glob("*.gguf")) if not sanity.is_later_part(file)]
    if not (source / "config.json").exists() and len(models) == 1:
        return _model(models[0])
    return source, source.name


def _verify(folder: Path, tell: Callable[[str, int, int], None]) -> tuple[int, int]:
    """Compare every hash that is known, and the form of the others. Raises ModelProblem."""
    known = _known(folder)
    total = sum(file.size for file in known.values())
    done = 0
    for path, file in known.items():

        def moved(size: int, path: str = path) -> None:
            nonlocal done
            done += size
            tell(path, done, total)

        if not over(folder / path, file, moved).right:
            raise ModelProblem(
                f"{folder / path} is damaged: its hash is not the one that belongs to it. Copy it again."
            )
    others = [file for file in sorted(folder.glob("**/*.safetensors")) if str(file.relative_to(folder)) not in known]
    for weights in others:
        if what := safetensors.fault(weights):
            raise ModelProblem(f"{weights} is not whole: {what}. Copy it again.")
    return len(known), len(others)


def _known(folder: Path) -> dict[str, File]:
    """Files whose hash can be told: by the name of the blob they link to, by what `hf download` noted beside them, or
    by a SHA256SUMS file."""
    found: dict[str, File] = {}
    for path, key in [*_linked(folder), *_noted(folder), *_sums(folder)]:
        file = folder / path
        if _HASH.fullmatch(key) and file.is_file() and path not in found:
            size = file.stat().st_size
            found[path] = File(path, size, sha256=key) if len(key) == 64 else File(path, size, git=key)
    return found


def _linked(folder: Path) -> Iterator[tuple[str, str]]:
    for file in folder.rglob("*"):
        if file.is_symlink() and file.readlink().parent.name == "blobs":
            yield str(file.relative_to(folder)), file.readlink().name


def _noted(folder: Path) -> Iterator[tuple[str, str]]:
    notes = folder / ".cache" / "huggingface" / "download"
    for note in notes.rglob("*.metadata"):
        lines = note.read_text(errors="replace").split("\n")
        if len(lines) > 1:
            yield str(note.relative_to(notes)).removesuffix(".metadata"), lines[1].strip()


def _sums(folder: Path) -> Iterator[tuple[str, str]]:
    sums = folder / "SHA256SUMS"
    if sums.is_file():
        for line in sums.read_text(errors="replace").splitlines():
            key, _, path = line.partition(" ")
            path = path.lstrip(" *")
            if ".." not in Path(path).parts and not Path(path).is_absolute():
                yield path.removeprefix("./"), key.lower()

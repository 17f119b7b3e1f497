"""A model on this machine by its path or its name. Nothing is loaded and nothing is fetched here.

A path leads to a .gguf file or to a folder with a checkpoint. A name is the small model's, that of a .gguf or of a
checkpoint (mostly a link) in the app's models folder, or a repository's whose snapshot is in the cache of Hugging
Face's or ModelScope's own tools.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from spark_chat import locations
from spark_chat.models import sanity, small
from spark_chat.models.sanity import ModelProblem
from spark_chat.recipe.recipe import ModelRef

PREFERRED = ("inclusionAI/Ling-3.0-flash-fp4",)
"""Checkpoints that a start without a model's name takes first, where the engine can run one."""
MEMORY_SHARE = 0.7
"""The largest part of the memory that a .gguf may take to be chosen without being asked for."""


class NotHere(ModelProblem):
    """Nothing of that name is on this machine, and it reads like a repository's: `repository` may be on a hub."""

    def __init__(self, sentence: str, repository: str) -> None:
        super().__init__(sentence)
        self.repository = repository


class NotFetched(ModelProblem):
    """The small model is what is wanted, and it is not here yet: `small.fetch` brings it."""


def find(name: str) -> ModelRef:
    """The model of that path or name; "" is `default()`. Raises ModelProblem, NotFetched for the small model."""
    name = name.strip()
    if not name:
        return default()
    if "\0" in name:
        raise ModelProblem("A model's path cannot have a NUL character in it.")
    path = _path(name)
    try:
        if os.path.lexists(path):
            return at(path)
    except OSError as error:
        raise ModelProblem(f"The model {name} cannot be reached: {error.strerror}.") from error
    if name.casefold() in (small.SMALL.name.casefold(), small.SMALL.file.casefold()):
        return _small()
    matches = [ref for ref in known() if _matches(name, ref)]
    if len({ref.path for ref in matches}) == 1:
        return at(Path(matches[0].path), matches[0].name)
    if matches:
        names = ", ".join(sorted({ref.name for ref in matches}))
        raise ModelProblem(f"Several models on this machine are called {name}: {names}. Name one of them in full.")
    raise _unknown(name, path)


def at(path: Path, name: str | None = None) -> ModelRef:
    """The model that lies at `path`: a .gguf or a checkpoint's folder, looked at briefly. Raises ModelProblem."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100  (symlinks stay: Hugging Face's cache is made of them)
    if absolute.is_dir():
        sanity.check_checkpoint(absolute)
        return ModelRef(name or absolute.name, str(absolute))
    sanity.check_gguf(absolute)
    return ModelRef(name or absolute.name.removesuffix(".gguf"), str(absolute))


def default(checkpoints: bool = False) -> ModelRef:
    """The best model on this machine. `checkpoints`: the engine can run one, so a preferred one comes first.

    Else the largest .gguf in the models folder that leaves the memory room; else the small model, which raises
    NotFetched where it is not here yet.
    """
    if checkpoints:
        for name in PREFERRED:
            for ref in known():
                if ref.name == name:
                    return at(Path(ref.path), name)
    limit = MEMORY_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for ref in sorted(_own(), key=lambda ref: -_size(Path(ref.path))):
        if ref.path.endswith(".gguf") and _size(Path(ref.path)) <= limit and Path(ref.path).name != small.SMALL.file:
            try:
                return at(Path(ref.path))
            except ModelProblem:
                continue
    return _small()


def known() -> list[ModelRef]:
    """Models that can be named: those in the app's folder, then those in the hubs' caches. Not looked into."""
    return [*_own(), *_hugging_face(), *_modelscope()]


def _small() -> ModelRef:
    path = small.kept()
    if path is None:
        raise NotFetched(f"{small.SMALL.name} is not on this machine yet.")
    return ModelRef(small.SMALL.name, str(path))


def _own() -> Iterator[ModelRef]:
    try:
        files = sorted(locations.models().iterdir())
    except (OSError, locations.NoHome):
        return
    for file in files:
        if file.name.endswith(".gguf"):
            if not sanity.is_later_part(file):
                yield ModelRef(file.name.removesuffix(".gguf"), str(file))
        elif not file.name.startswith(".") and (file / "config.json").exists():
            yield ModelRef(file.name.replace("--", "/", 1), str(file))


def as_file_name(name: str, model: Path) -> str:
    """What a model called `name` is called in the app's models folder. Raises ModelProblem."""
    file = name.replace("/", "--", 1)
    if not file or "/" in file or file.startswith(".") or not file.isprintable():
        raise ModelProblem(f"{name} can't be a model's name. Take OWNER/NAME, or a plain word.")
    return f"{file.removesuffix('.gguf')}.gguf" if model.is_file() else file


def _hugging_face() -> Iterator[ModelRef]:
    """One for a repository with a checkpoint; one for each .gguf of a repository that has those."""
    try:
        folders = sorted(locations.hugging_face_cache().glob("models--*--*"))
    except (OSError, RuntimeError):
        return
    for folder in folders:
        repository = "/".join(folder.name.split("--", 2)[1:])
        snapshot = snapshot_of(folder)
        if snapshot is None:
            continue
        files = [file for file in sorted(snapshot.glob("**/*.gguf")) if not sanity.is_later_part(file)]
        if (snapshot / "config.json").exists() and not files:
            yield ModelRef(repository, str(snapshot))
        for file in files:
            name = repository if len(files) == 1 else f"{repository}/{file.relative_to(snapshot)}"
            yield ModelRef(name, str(file))


def _modelscope() -> Iterator[ModelRef]:
    """Checkpoints alone; its older cache has a folder an owner, with dots in names written as three underscores."""
    try:
        root = locations.modelscope_cache()
        found = [
            ("/".join(folder.parent.parent.name.split("--", 1)), folder)
            for folder in sorted(root.glob("models/*--*/snapshots/master"))
        ]
        for models in (root / "models", root / "hub" / "models"):
            found += [
                (f"{folder.parent.name}/{folder.name.replace('___', '.')}", folder)
                for folder in sorted(models.glob("[!._]*/[!._]*"))
                if folder.name not in ("snapshots", "blobs", "refs")
            ]
    except (OSError, RuntimeError):
        return
    for name, folder in found:
        if (folder / "config.json").exists():
            yield ModelRef(name, str(folder))


def snapshot_of(folder: Path) -> Path | None:
    """Of a repository's folder in Hugging Face's cache: the snapshot that `main` stands for, else the newest."""
    try:
        revision = (folder / "refs" / "main").read_text().strip()
        if revision and (folder / "snapshots" / revision).is_dir():
            return folder / "snapshots" / revision
    except (OSError, UnicodeDecodeError):
        pass
    try:
        return max((folder / "snapshots").iterdir(), key=lambda snapshot: snapshot.stat().st_mtime, default=None)
    except OSError:
        return None


def _matches(name: str, ref: ModelRef) -> bool:
    wanted, full = name.casefold(), ref.name.casefold()
    return wanted in (full, f"{full}.gguf") or ("/" in full and wanted == full.partition("/")[2])


def _path(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise ModelProblem(f"The home folder in {name} is not known.") from error


def _unknown(name: str, path: Path) -> ModelProblem:
    candidates = {ref.name: ref.name for ref in known()} | {small.SMALL.name: small.SMALL.name}
    with suppress(OSError, ValueError):
        candidates |= {file.name: str(file) for file in path.parent.glob("*.gguf")}
    by_fold = {candidate.casefold(): shown for candidate, shown in candidates.items()}
    near = difflib.get_close_matches(path.name.casefold(), by_fold, 3, 0.5)
    near += [fold for fold in difflib.get_close_matches(name.casefold(), by_fold, 3, 0.5) if fold not in near]
    sentence = f"There is no model {name} on this machine."
    if near:
        sentence += f" Did you mean {' or '.join(by_fold[fold] for fold in near[:3])}?"
    if name.count("/") == 1 and not name.startswith((".", "/", "~")) and not name.endswith(".gguf"):
        sentence += f" `spark-chat pull {name}` brings it, if it is a repository on Hugging Face."
        return NotHere(f"{sentence} A path to a .gguf file or to a checkpoint's folder works too.", name)
    return ModelProblem(f"{sentence} A path to a .gguf file or to a checkpoint's folder works too.")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0

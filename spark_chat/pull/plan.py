"""What a pull is to bring: the files of one commit, their sizes and hashes, and which of them are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

DUPLICATES = ("*.bin", "*.pt", "*.pth", "*.h5", "*.msgpack", "*.onnx", "*.ot", "onnx/*", "original/*", "consolidated*")
"""The same weights once more for other programs: left out where there are .safetensors."""


class BadPlan(Exception):
    """`what` is wrong with a repository or with what was asked of it and what to `remedy`, in sentences."""

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(f"{what} {remedy}".strip())
        self.what, self.remedy = what, remedy


@dataclass(frozen=True)
class File:
    """One file. `size` in bytes. `sha256` of its content where the hub keeps it outside of git, else `git`: the id
    that git gives a blob (a SHA-1 over a header and the content)."""

    path: str
    size: int
    sha256: str = ""
    git: str = ""

    @property
    def key(self) -> str:
        """The hash that it is kept and checked under."""
        return self.sha256 or self.git


@dataclass(frozen=True)
class Plan:
    """All of one commit that is wanted."""

    repository: str
    commit: str
    files: tuple[File, ...]

    @property
    def size(self) -> int:
        """Bytes in all; a content that several files share counts once."""
        return sum({file.key: file.size for file in self.files}.values())


def plan(repository: str, commit: str, files: Sequence[File], include: Sequence[str] = ()) -> Plan:
    """The files that are wanted. Raises BadPlan."""
    for file in files:
        check(file)
    if include:
        wanted = [file for file in files if any(fnmatchcase(file.path, pattern) for pattern in include)]
        if not wanted:
            shown = ", ".join(file.path for file in files[:8])
            raise BadPlan(f"No file of {repository} matches {' or '.join(include)}.", f"It has {shown}.")
        small = [file for file in files if file.path.endswith((".json", ".txt", ".jinja", ".md", ".model", "LICENSE"))]
        wanted += [file for file in small if file not in wanted]
    else:
        wanted = _whole(repository, files)
    if not wanted:
        raise BadPlan(f"{repository} has no files.")
    return Plan(repository, commit, tuple(wanted))


def check(file: File) -> None:
    """A hub's word for a path is not trusted: it stays below the folder. Raises BadPlan."""
    path = PurePosixPath(file.path)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\\" in file.path or "\0" in file.path:
        raise BadPlan(f"The repository lists a file that would lie outside of its folder: {file.path!a}.")
    kind, length = ("sha256", 64) if file.sha256 else ("git id", 40)
    if len(file.key) != length or set(file.key) - set("0123456789abcdef"):
        raise BadPlan(f"The repository gives no {kind} for {file.path}, so what comes could not be checked.")
    if file.size < 0:
        raise BadPlan(f"The repository gives no size for {file.path}.")


def _whole(repository: str, files: Sequence[File]) -> list[File]:
    models = [file for file in files if file.path.endswith(".gguf") and "mmproj" not in file.path]
    first = [file for file in models if "-of-" not in file.path or "-00001-of-" in file.path]
    if len(first) > 1:
        shown = ", ".join(f"{file.path} ({file.size / 1e9:.1f} GB)" for file in first[:6])
        raise BadPlan(
            f"{repository} holds {len(first)} models: {shown}{' and more' if len(first) > 6 else ''}.",
            "Name one with --include, such as --include '*Q4_K_M*'.",
        )
    if any(file.path.endswith(".safetensors") for file in files):
        return [file for file in files if not any(fnmatchcase(file.path, pattern) for pattern in DUPLICATES)]
    return list(files)

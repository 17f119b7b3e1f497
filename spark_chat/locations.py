"""Where everything lives. The only file that knows a path.

Config, cache, data, state and runtime folders are the person's own (XDG through platformdirs). Nothing is created
by asking where it is; `made()` creates a folder, for this user only.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from platformdirs import PlatformDirs


class NoHome(Exception):
    """There is no home folder and no XDG variable to go by; the text says what to set."""


@cache
def _folders() -> PlatformDirs:
    return PlatformDirs("spark-chat", appauthor=False)


def _below(folder: str, variable: str) -> Path:
    path = Path(folder)
    if not path.is_absolute():
        raise NoHome(f"No home folder is known, so there is no place for files. Set HOME or {variable}.")
    return path


def config() -> Path:
    """Settings, themes and prompts of the person's own."""
    return _below(_folders().user_config_dir, "XDG_CONFIG_HOME")


def cache_folder() -> Path:
    """What can be fetched or built again: models, kernels."""
    return _below(_folders().user_cache_dir, "XDG_CACHE_HOME")


def data() -> Path:
    """What cannot: conversations."""
    return _below(_folders().user_data_dir, "XDG_DATA_HOME")


def state() -> Path:
    """What the app notes for itself: state.toml, logs."""
    return _below(_folders().user_state_dir, "XDG_STATE_HOME")


def runtime() -> Path:
    """Sockets and locks; gone at logout."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a folder of its own in /tmp stands in is nobody's trouble
            return _below(_folders().user_runtime_dir, "XDG_RUNTIME_DIR")
    except PermissionError as error:  # that one is somebody else's
        raise NoHome(f"There is no private folder for sockets and locks: {error}.") from None


def settings_file(environ: Mapping[str, str] = os.environ) -> Path:
    """`SPARK_CHAT_CONFIG` names another one."""
    named = environ.get("SPARK_CHAT_CONFIG")
    return at_home(named) if named else config() / "settings.toml"


def at_home(path: str) -> Path:
    """`path` with a leading ~ or ~user put in full. Raises NoHome where that home is not known."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise NoHome(f"{path} can't be found, since that home folder is not known. Give the path in full.") from None


def state_file() -> Path:
    return state() / "state.toml"


def history_file() -> Path:
    return data() / "history.sqlite3"


def bench() -> Path:
    """Records of what was measured."""
    return data() / "bench"


def models() -> Path:
    return cache_folder() / "models"


def hugging_face_cache() -> Path:
    """Where Hugging Face's own tools keep checkpoints, by their own variables."""
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if named := os.environ.get(variable):
            return Path(named).expanduser()
    if named := os.environ.get("HF_HOME"):
        return Path(named).expanduser() / "hub"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "huggingface" / "hub"


def modelscope_cache() -> Path:
    """Where ModelScope's own tools keep checkpoints."""
    if named := os.environ.get("MODELSCOPE_CACHE"):
        return Path(named).expanduser()
    return Path("~/.cache/modelscope").expanduser()


def logs() -> Path:
    return state() / "logs"


def drafts() -> Path:
    """What is being written in an editor."""
    return state() / "drafts"


def own_prompts(kind: str) -> Path:
    """The person's saved prompts; of kind "system" those said to the model before a conversation."""
    return config() / ("system-prompts" if kind == "system" else "prompts")


def shipped_prompts(kind: str) -> Path:
    """Ours, of the same two kinds."""
    return Path(__file__).parent / "prompts" / "shipped" / ("system-prompts" if kind == "system" else "prompts")


def own_themes() -> Path:
    return config() / "themes"


def shipped_themes() -> Path:
    """Inside the wheel; in a checkout the folder beside the package."""
    inside = Path(__file__).parent / "themes"
    return inside if inside.is_dir() else Path(__file__).parent.parent / "themes"


def made(folder: Path) -> Path:
    """`folder`, created where it is missing, and what it lies in too, readable by this user alone. Raises OSError."""
    for missing in reversed([folder, *folder.parents]):
        if not missing.is_dir():
            missing.mkdir(mode=0o700, exist_ok=True)
    return folder

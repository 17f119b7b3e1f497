"""The keys as the person has them: what the bindings use, and what every hint, notice and help line names.

One map for the process, as there is one keyboard: `use` it when the settings change.
"""

from __future__ import annotations

from collections.abc import Mapping

from textual.keys import format_key

from spark_chat.settings.keys import ACTIONS, SECTION, split

_keys: dict[str, tuple[str, ...]] = {action: split(keys) for action, keys in ACTIONS.items()}

WITH: Mapping[str, tuple[str, str]] = {
    "settings.restart": ("restart", ""),
    "help.back": ("help", "escape,q"),
    "app.help": ("help", ""),
    "talks.close": ("resume", ""),
}
"""Bindings of other screens that go by an action's key: id -> (action, keys that stay)."""


def use(settings: object) -> dict[str, str]:
    """Take the keys of `settings` for the whole app, and return them by binding id, as Textual's keymap has it."""
    section = getattr(settings, SECTION)
    for action in ACTIONS:
        _keys[action] = split(str(getattr(section, action)))
    changed = {action: keys for action, keys in _keys.items() if keys != split(ACTIONS[action])}
    found = {binding_id(action): ",".join(keys) or unbound(action) for action, keys in changed.items()}
    for id, (action, fixed) in WITH.items():
        if action in changed:
            found[id] = ",".join(part for part in (fixed, *_keys[action]) if part) or unbound(id)
    return found


def binding_id(action: str) -> str:
    """The id of the binding that does it."""
    scroll = action.removeprefix("scroll_")
    if action == "palette":
        return "app.palette"
    return f"scroll.{scroll}" if scroll != action else f"chat.{action.replace('_', '-')}"


def unbound(name: str) -> str:
    """A key that no keyboard has: a binding must have one, so that another can be given to it."""
    return f"unbound-{name.replace('_', '-')}"


def action_of(command: str) -> str:
    """The action that a command's name stands for."""
    return command.replace("-", "_")


def keys_of(command: str, otherwise: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The keys of a command; `otherwise` for one whose keys are fixed."""
    return _keys.get(action_of(command), otherwise)


def key(name: str) -> str:
    """How a hint names what does `name`: the action's first key, else its command. What is no action is a key."""
    keys = _keys.get(name)
    if keys is None:
        return name
    return format_key(keys[0]) if keys else f"/{name.replace('_', '-')}"

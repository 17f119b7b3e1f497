"""Nested tables as plain values, and what stands at a path in them."""

from __future__ import annotations

from typing import Any

Path = tuple[str, ...]


class Unset:
    """In place of a value: there is none. Where one is set: take the key out, so that its default holds."""


UNSET = Unset()


def get(tree: Any, path: Path) -> Any:
    """What stands at `path`, or UNSET."""
    for part in path:
        if not isinstance(tree, dict) or part not in tree:
            return UNSET
        tree = tree[part]
    return tree


def put(tree: dict[str, Any], path: Path, value: Any) -> None:
    """Puts `value` at `path`, making the tables to it; UNSET takes out what is there."""
    for part in path[:-1]:
        inside = tree.get(part)
        if not isinstance(inside, dict):
            if isinstance(value, Unset):
                return
            inside = tree[part] = {}
        tree = inside
    if isinstance(value, Unset):
        tree.pop(path[-1], None)
    else:
        tree[path[-1]] = value


def same(left: Any, right: Any) -> bool:
    """Equal in type too: 1 is neither 1.0 nor true."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def pruned(tree: Any) -> Any:
    """Without empty tables: taking out the last key may leave its table or not."""
    if not isinstance(tree, dict):
        return tree
    kept = {key: pruned(item) for key, item in tree.items()}
    return {key: item for key, item in kept.items() if item != {}}

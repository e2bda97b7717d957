"""Editing a CLI's own JSON file for one key: the rest stays as it is, and what is not understood is not touched."""

from __future__ import annotations

import json
from collections.abc import Mapping


def parsed(data: bytes | None) -> dict[str, object]:
    """The object in the file, empty without one. Raises ValueError for anything else, comments included."""
    state = json.loads(data or b"{}")
    if not isinstance(state, dict):
        raise ValueError("it holds no JSON object")
    return state


def table(state: dict[str, object], key: str) -> dict[str, object]:
    """The object under a key, made when it is not there. Raises ValueError when something else stands there."""
    found = state.setdefault(key, {})
    if not isinstance(found, dict):
        raise ValueError(f"{key} is no object")
    return found


def written(state: Mapping[str, object]) -> bytes:
    """The file's new bytes."""
    return json.dumps(state, indent=2, ensure_ascii=False).encode()

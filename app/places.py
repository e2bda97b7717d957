"""The places beside the board. Nothing of them is needed to draw it, so they are brought in when they are asked for.

The same holds for what only they ask of the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Final, cast

from screens.place import PlaceScreen

SETTLED_S: Final = 1.0
"""Seconds after the start by which nobody waits for the board any more."""
PLACES: Final[Mapping[str, tuple[str, str]]] = {
    "tree": ("screens.tree", "TreeScreen"),
    "wall": ("screens.wall", "WallScreen"),
    "hosts": ("screens.hosts", "HostsScreen"),
    "providers": ("screens.providers", "ProvidersScreen"),
    "activity": ("screens.activity", "ActivityScreen"),
}
"""Module and class of each that a key opens."""
LATER: Final = (
    *("screens.run", "screens.item"),
    *("executor.service", "executor.smoke", "executor.supervision.dry_run", "executor.health"),
    "providers.doctor",
)
"""Modules that are imported where they are used, because no board needs them."""


def class_of(name: str) -> type[PlaceScreen]:
    """The class of a place; raises KeyError for a name that is not in ``PLACES``."""
    module, called = PLACES[name]
    return cast("type[PlaceScreen]", getattr(import_module(module), called))


def bring_in() -> None:
    """Load all of them, so that no key has to wait for it."""
    for module in (*LATER, *(module for module, _ in PLACES.values())):
        import_module(module)

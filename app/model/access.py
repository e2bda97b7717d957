"""How the screens' model reaches the store: on threads of their own, in order; the UI only awaits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from app.seat import Seat
from executor.capture import PaneSource
from executor.ledger import Ledger
from executor.settings import ExecutorSettings
from providers.catalog import Catalog
from store.database import Store
from store.home import Home

P = ParamSpec("P")
T = TypeVar("T")

ACTOR = "operator"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the model needs beside the store."""

    home: Home
    config: Path
    """The operator's config.toml."""
    settings: ExecutorSettings
    catalog: Callable[[], Catalog]
    default_provider: str = ""
    catalog_file: Path | None = None
    """The operator's own entries; None: where they stand unless config.toml says otherwise."""


class Access:
    """What each part of the model reads and writes through; lives on the UI's event loop."""

    def __init__(self, store: Store, around: Surroundings, panes: PaneSource, seat: Seat) -> None:
        self._store = store
        self._seat = seat
        self._around = around
        self._panes = panes
        self._reads = Ledger(store)
        self._writes = Ledger(store)

    def close(self) -> None:
        """Finish what was asked, then let go of the store's connections."""
        self._reads.close()
        self._writes.close()


def of_one_moment(reads: Callable[Concatenate[Store, P], T]) -> Callable[Concatenate[Store, P], T]:
    """All its reads see one state: what one of them found, another process cannot delete before the next."""

    @wraps(reads)
    def reading(store: Store, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with store.read():
            return reads(store, *args, **kwargs)

    return reading

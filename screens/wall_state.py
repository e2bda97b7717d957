"""The wall without its pictures: which runs live, in which order they stand, which are left out, which is chosen."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, Literal

from screens.chips import waits
from screens.filters import Filter
from screens.model import CardView, RunView
from store.records import Event, Run

Order = Literal["need", "start"]
"""Who needs the operator most comes first; or who was started first."""

_RANKS: Final = {"waiting": 0, "idle": 1, "working": 2, "unknown": 3}


class WallState:
    """Runs that live; the chosen one is kept by its id, wherever it moves."""

    def __init__(self) -> None:
        self.order: Order = "need"
        self.words = ""
        """The filter as it was typed; ``narrow`` sets it."""
        self._views: dict[str, RunView] = {}
        self._shown: list[RunView] = []
        self._chosen = ""
        self._place = 0

    @property
    def shown(self) -> Sequence[RunView]:
        """Those that the filter lets through, in order."""
        return self._shown

    @property
    def place(self) -> int:
        """Where the chosen one stands among the shown; 0 when there is none."""
        return self._place

    @property
    def chosen(self) -> RunView | None:
        """What the keys act on."""
        return self._shown[self._place] if self._shown else None

    @property
    def count(self) -> int:
        """How many live, filter or not."""
        return len(self._views)

    def replace(self, views: Iterable[RunView]) -> None:
        """Take all that live."""
        self._views = {view.run.id: view for view in views}
        self.settle()

    def update(self, asked: Collection[str], views: Iterable[RunView]) -> None:
        """Take what was read of the runs ``asked`` for; one that was not found lives no more."""
        for run_id in asked:
            self._views.pop(run_id, None)
        self._views |= {view.run.id: view for view in views}
        self.settle()

    def concerned(self, events: Iterable[Event], ids: Collection[str]) -> set[str]:
        """Runs to read again: those that events are about, and those whose item, host or project is in ``ids``."""
        about = {str(event.payload.get("run_id", "")) for event in events if event.topic.startswith("run.")}
        for view in self._views.values():
            if any(id_ in ids for id_ in (view.run.id, view.item.id, view.project.id, view.run.host_id)):
                about.add(view.run.id)
        return about - {""}

    def narrow(self, words: str) -> None:
        """Show only those that a filter lets through."""
        self.words = words
        self.settle()

    def settle(self) -> None:
        """Sort and filter anew; the chosen one stays chosen, or who stands in its place now."""
        found = [view for view in self._views.values() if _lets(self.words, view)]
        self._shown = sorted(found, key=_by_need if self.order == "need" else _by_start)
        ids = [view.run.id for view in self._shown]
        self._place = ids.index(self._chosen) if self._chosen in ids else min(self._place, max(len(ids) - 1, 0))
        self._chosen = ids[self._place] if ids else self._chosen

    def go(self, place: int) -> bool:
        """Choose by place, as near as there is one; whether that is another than before."""
        place = max(min(place, len(self._shown) - 1), 0)
        if not self._shown or place == self._place:
            return False
        self._place, self._chosen = place, self._shown[place].run.id
        return True

    def find(self, run_id: str) -> bool:
        """Choose a run; False when it is not shown."""
        place = next((at for at, view in enumerate(self._shown) if view.run.id == run_id), None)
        if place is not None:
            self._place, self._chosen = place, run_id
        return place is not None


def _lets(words: str, view: RunView) -> bool:
    """As on the board, and by the start of a host's or project's name."""
    card = CardView(view.item, view.run)
    names = [view.project.name.casefold(), (view.run.host or "").casefold()]
    return all(
        Filter((word,)).lets(card) or any(name.startswith(word) for name in names) for word in words.casefold().split()
    )


def _by_need(view: RunView) -> tuple[object, ...]:
    run = view.run
    since = run.activity_at if waits(run) and run.activity_at else _start(run)
    return _RANKS[run.activity] if run.status == "running" else len(_RANKS), since, run.id


def _by_start(view: RunView) -> tuple[object, ...]:
    return _start(view.run), view.run.id


def _start(run: Run) -> object:
    return run.created_at

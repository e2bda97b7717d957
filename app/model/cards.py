"""Cards as the screens know them: the store's, with what is told of their runs from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from screens.model import CardView
from store import leftovers, silence, usage
from store.board import Card
from store.database import Store

AT_ONCE = 500
"""Ids that the store takes at a time."""


def views(store: Store, cards: Sequence[Card]) -> list[CardView]:
    """The cards with what their runs use, that they are silent, that an agent outlived its run; in a few reads."""
    shown = [card.newest_run for card in cards if card.newest_run is not None]
    used = usage.of_runs(store, [run.id for run in shown]) if shown else {}
    quiet = silence.current(store) if any(run.status == "running" for run in shown) else {}
    ended = [run.id for run in shown if run.status in ("failed", "stopped")]
    alive: set[str] = set()
    for start in range(0, len(ended), AT_ONCE):
        alive |= leftovers.flagged(store, ended[start : start + AT_ONCE])
    made = []
    for card in cards:
        run = card.newest_run
        plain = card.item, run, card.run_count, card.children_done, card.children_total
        if run is None:  # most of a large board
            made.append(CardView(*plain))
        else:
            made.append(CardView(*plain, used.get(run.id), quiet.get(run.id), run.id in alive))
    return made

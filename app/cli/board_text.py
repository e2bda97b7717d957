"""The board on the command line: four columns side by side, or one below another where it is narrow."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from app.cli.output import clean_line, terminal_width
from app.cli.shapes import Shape, shape, short_ids
from app.cli.table import cut, padded
from store import board
from store.records import ITEM_STATUSES, ItemStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from store.board import Card
    from store.database import Store

PIPED_WIDTH = 120
NARROWEST = 60
GAP = "  "


def columns(store: Store, project_id: str) -> dict[str, list[Shape]]:
    """The cards of each status, in their order; each an item with what its card says beside."""
    return {status: [_shape(card) for card in cards] for status, cards in _by_status(store, project_id).items()}


def board_text(store: Store, project_id: str) -> str:
    """The board as it fits the terminal, or 120 columns where there is none."""
    placed = _by_status(store, project_id)
    short = short_ids(card.item.id for cards in placed.values() for card in cards)
    width = terminal_width() or PIPED_WIDTH
    if width < NARROWEST:
        return "\n\n".join(_column(status, cards, short, width) for status, cards in placed.items())
    each = (width - len(GAP) * (len(placed) - 1)) // len(placed)
    stacks = [_column(status, cards, short, each).split("\n") for status, cards in placed.items()]
    lines = zip_longest(*stacks, fillvalue="")
    return "\n".join(GAP.join(padded(cell, each) for cell in line).rstrip() for line in lines)


def _by_status(store: Store, project_id: str) -> dict[ItemStatus, list[Card]]:
    placed: dict[ItemStatus, list[Card]] = {status: [] for status in ITEM_STATUSES}
    for card in board.cards(store, project_id):
        placed[card.item.status].append(card)
    return placed


def _column(status: ItemStatus, cards: Sequence[Card], short: Callable[[str], str], width: int) -> str:
    lines = [f"{status.upper()} · {len(cards)}", "─" * width]
    for card in cards:
        lines += [cut(line, width) for line in _card(card, short)] + [""]
    return "\n".join(lines).rstrip("\n")


def _card(card: Card, short: Callable[[str], str]) -> list[str]:
    from app.cli.said import now
    from screens.chips import chip

    item = card.item
    words = [short(item.id), item.kind]
    words += [f"@{item.assignee}"] if item.assignee else []
    words += [f"#{label}" for label in item.labels]
    words += [f"{card.children_done}/{card.children_total} done"] if card.children_total else []
    lines = [clean_line(item.title), "  " + clean_line(" ".join(words))]
    if card.newest_run is not None:
        lines.append("  " + clean_line(chip(card.newest_run, now())))
    return lines


def _shape(card: Card) -> Shape:
    return {
        **shape(card.item),
        "newest_run": shape(card.newest_run) if card.newest_run is not None else None,
        "run_count": card.run_count,
        "children_done": card.children_done,
        "children_total": card.children_total,
    }

"""Which item a few typed letters mean, and what its child is by default."""

from __future__ import annotations

from collections.abc import Sequence

from screens.model import CardView
from screens.widgets.spans import quoted
from store.records import Kind

CHILD_KIND: dict[Kind, Kind] = {"milestone": "epic", "epic": "task", "task": "subtask", "subtask": "subtask"}


def matching(typed: str, cards: Sequence[CardView]) -> list[CardView]:
    """Cards whose id begins with ``typed`` (4 digits or more) or whose title holds it; a whole title wins alone.

    Cancelled items are nobody's parent.
    """
    wanted = typed.casefold()
    open_cards = [card for card in cards if card.item.status != "cancelled"]
    exact = [card for card in open_cards if card.item.title.casefold() == wanted]
    if exact:
        return exact
    if len(wanted) >= 4 and (named := [card for card in open_cards if card.item.id.startswith(wanted)]):
        return named
    return [card for card in open_cards if wanted in card.item.title.casefold()]


def trouble(typed: str, found: Sequence[CardView]) -> str:
    """Why ``found`` is not one item, empty when it is."""
    if len(found) == 1:
        return ""
    if not found:
        return f"No open item is called “{typed}”."
    named = ", ".join(quoted(card.item.title) for card in found[:3])
    return f"“{typed}” could be {named}{' and more' if len(found) > 3 else ''}. Type more of it."

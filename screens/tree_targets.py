"""Below what an item may be hung, and why not: the store's rules in the words of whoever picks a target."""

from __future__ import annotations

from screens.tree_state import TreeState
from screens.widgets.spans import quoted
from store.records import KINDS, Kind


def trouble(state: TreeState, item_id: str, target_id: str) -> str:
    """Why an item can't hang below a target (``""`` is the top level); empty when it can (PAM-DATA-023, 024)."""
    moved, target = state.card(item_id), state.card(target_id)
    if moved is None:
        return "The item is gone."
    if target_id == item_id:
        return "Nothing hangs below itself. Go to where it should hang."
    if (moved.item.parent_id or "") == target_id:
        return "It hangs here already." if target else "It stands at the top level already."
    if target is None:
        return ""
    if item_id in state.above(target_id):
        return f"{quoted(target.item.title, 30)} is part of what you move."
    if KINDS.index(moved.item.kind) < KINDS.index(target.item.kind):
        return f"{_article(moved.item.kind)} can't hang below {_article(target.item.kind).lower()}."
    if target.item.status == "cancelled":
        return "It is cancelled; what hangs below it would be lost from sight."
    return ""


def _article(kind: Kind) -> str:
    return f"{'An' if kind == 'epic' else 'A'} {kind}"

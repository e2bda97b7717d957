"""What stands beside the outline: the chosen item in words, its description, and the screen of its newest run."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from screens import chips
from screens.ages import ago
from screens.amounts import all_cost, all_tokens
from screens.confine import one_line
from screens.model import CardView, ControlRoomModel
from screens.tree_branches import Branch
from screens.widgets.outline_row import MARKS
from screens.widgets.peek import Peek
from screens.widgets.prose import Prose
from store.usage import RollUp

LONGEST: Final = 3_000
"""Characters of a description that are shown here; the item's own page has all of them."""


class ItemSide(Vertical):
    """Says at once whose side it is; the screen comes when the cursor rests."""

    def __init__(self, model: ControlRoomModel) -> None:
        super().__init__(id="tree-side")
        self.peek = Peek(model, ("a", "attaches"))
        self._facts = Static(id="tree-facts")
        self._text = Prose(id="tree-text", nothing="No description.")
        self._lines = -1

    def compose(self) -> Iterator[Widget]:
        with Vertical(id="tree-about"):
            yield self._facts
            yield self._text
        yield self.peek

    def look_at(self, card: CardView | None, branch: Branch, amounts: RollUp | None, now: datetime) -> None:
        """Follow an item; nothing where there is none."""
        facts = _facts(card, branch, amounts, now) if card else Content("")
        taller, self._lines = facts.plain.count("\n") != self._lines, facts.plain.count("\n")
        self._facts.update(facts, layout=taller)
        self.set_class(card is None or card.run is None, "-no-run")
        self.peek.look_at(card, now)
        self._text.show(_description(card.item.description) if card else "")

    def close(self) -> None:
        """Stop looking."""
        self.peek.close()


def _facts(card: CardView, branch: Branch, amounts: RollUp | None, now: datetime) -> Content:
    item = card.item
    mark, tone = MARKS[item.status]
    parts: list[str | tuple[str, str]] = [(one_line(item.title) or "(no title)", "bold $ink"), "\n"]
    parts += [(f"{chips.KIND_GLYPHS[item.kind]} {item.kind}", "$kind"), (f"  {mark} {item.status}", f"bold ${tone}")]
    if item.assignee:
        parts.append((f"  @{one_line(item.assignee)}", "$person"))
    parts += [(f"  #{one_line(label)}", "$label") for label in item.labels]
    if branch.total:
        full, empty = chips.bar(branch.done, branch.total, 12)
        rest = f" {branch.done}/{branch.total} done, {branch.open} open"
        parts += ["\n", (full, "$good"), (empty, "$soft"), (rest, "$soft")]
    if amounts is not None and amounts.runs:
        cost = all_cost(amounts)
        parts += ["\n", ("tokens ", "$soft"), (all_tokens(amounts), "$ink")]
        parts += [("\ncost   ", "$soft"), (cost, "$ink")] if cost else []
    runs = f"{branch.runs} run{'' if branch.runs == 1 else 's'}" if branch.runs else "no run"
    parts.append((f"\n{runs}, changed {ago(item.updated_at, now)}", "$soft"))
    return Content.assemble(*parts)


def _description(text: str) -> str:
    return text[:LONGEST] + ("…\n\n*o opens all of it.*" if len(text) > LONGEST else "")

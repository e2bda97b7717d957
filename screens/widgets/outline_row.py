"""A row of the outline as spans: where it hangs, what it is, who works on it, how far it is, what it has cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rich.cells import cell_len

from screens import chips
from screens.amounts import compact, money
from screens.confine import one_line
from screens.model import CardView
from screens.tree_branches import Branch
from screens.tree_state import Row
from screens.widgets.card import chip_spans
from screens.widgets.spans import Span, clip
from store.records import ItemStatus
from store.usage import RollUp, tokens

MARKS: Final[Mapping[ItemStatus, tuple[str, str]]] = {
    "todo": ("○", "soft"),
    "doing": ("◐", "accent"),
    "done": ("✓", "good"),
    "cancelled": ("–", "soft"),
}
"""Glyph and tone of a status; its word stands at the end of the row."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Cells of what stands right of the title; 0 leaves a column out."""

    run: int
    bar: int
    """Cells of the bar alone."""
    progress: int
    tokens: int = 0
    cost: int = 0
    status: int = 9

    @property
    def amounts(self) -> bool:
        """Whether tokens are told in the rows."""
        return bool(self.tokens)


@dataclass(frozen=True, slots=True)
class Told:
    """Everything a row speaks of."""

    row: Row
    card: CardView
    branch: Branch
    amounts: RollUp | None = None
    dim: bool | None = None
    """Whether it is no target for what is being moved; None while nothing is."""


def columns(width: int) -> Columns:
    """What fits beside a title that can still be read."""
    if width >= 128:
        return Columns(run=34, bar=8, progress=15, tokens=7, cost=9)
    if width >= 104:
        return Columns(run=27, bar=6, progress=13, tokens=7, cost=8)
    if width >= 84:
        return Columns(run=25, bar=4, progress=10)
    if width >= 64:
        return Columns(run=19, bar=3, progress=8)
    return Columns(run=14, bar=0, progress=6, status=0)


def spans(told: Told, fit: Columns, now: datetime, stripe: Span) -> tuple[list[Span], list[Span]]:
    """The row's left and right part."""
    cells = [
        *_cell(_work(told, now, fit.run), fit.run),
        *_cell(_progress(told.branch, fit.bar), fit.progress),
        *_cell(_tokens(told), fit.tokens, right=True),
        *_cell(_cost(told), fit.cost, right=True),
        *_cell(_status(told.card), fit.status),
    ]
    if told.dim:
        cells = [cell._replace(tone="soft", bold=False) for cell in cells]
    return _title(told, stripe), cells


def headings(fit: Columns) -> tuple[list[Span], list[Span]]:
    """What each column holds, in its place."""
    names = (("run", fit.run, False), ("done", fit.progress, False), ("tokens", fit.tokens, True))
    others = (("cost", fit.cost, True), ("status", fit.status, False))
    cells = [
        cell for name, width, right in (*names, *others) for cell in _cell([Span(name, "soft")], width, right=right)
    ]
    return [Span("   item", "soft")], cells


def guides(row: Row) -> str:
    """The lines that lead to a row; two cells a level."""
    if not row.depth:
        return ""
    inner = "".join("  " if last else "│ " for last in row.last[1:-1])
    return inner + ("└─" if row.last[-1] else "├─")


def fold_at(row: Row) -> int:
    """The cell, counted from the row's left edge, where its fold is drawn."""
    return 1 + 2 * row.depth


def _title(told: Told, stripe: Span) -> list[Span]:
    row, item = told.row, told.card.item
    mark, tone = MARKS[item.status]
    over = not row.matched or item.status in ("done", "cancelled")
    quiet = over if told.dim is None else told.dim
    fold = ("▸ " if row.folded else "▾ ") if row.parent else "─ " if row.depth else "  "
    found = [
        stripe,
        Span(guides(row), "rule"),
        Span(fold, "accent" if row.folded else "soft" if row.parent else "rule"),
        Span(f"{mark} ", "soft" if told.dim else tone),
        Span(f"{chips.KIND_GLYPHS[item.kind]} ", "soft" if quiet else "kind"),
        Span(one_line(item.title) or "(no title)", "soft" if quiet else "ink", row.parent and not quiet),
    ]
    if row.folded:
        found.append(Span(f"  {told.branch.below} below", "soft"))
    if item.assignee:
        found.append(Span(f"  @{one_line(item.assignee)}", "soft" if told.dim else "person"))
    if item.labels:
        words = " ".join(f"#{one_line(label)}" for label in item.labels)
        found.append(Span(f"  {words}", "soft" if told.dim else "label"))
    return found


def _work(told: Told, now: datetime, width: int) -> list[Span]:
    """The item's own run; where it has none, or hides others, how many are at work below it."""
    run, branch = told.card.run, told.branch
    hidden = branch.live - (run is not None and run.live)
    if run is not None and not (told.row.folded and hidden):
        return chip_spans(run, now, width)
    found: list[Span] = []
    if branch.waiting:
        found.append(Span(f"⚑ {branch.waiting} waiting", "waiting", True))
    if others := branch.live - branch.waiting:
        found.append(Span(f"{'  ' if found else ''}● {others} at work", "working"))
    return found


def _progress(branch: Branch, bar: int) -> list[Span]:
    if not branch.total:
        return []
    full, empty = chips.bar(branch.done, branch.total, bar) if bar else ("", "")
    return [Span(full, "good"), Span(empty, "soft"), Span(f"{' ' if bar else ''}{branch.done}/{branch.total}", "soft")]


def _tokens(told: Told) -> list[Span]:
    """Tokens of the branch; a plus where not all of its runs tell theirs."""
    total = told.amounts
    if total is None or not total.runs:
        return []
    known = tokens(total.usage)
    return [Span("–" if known is None else compact(known) + ("+" if total.unknown else ""), "soft")]


def _cost(told: Told) -> list[Span]:
    total = told.amounts
    if total is None or total.usage.cost_usd is None:
        return []
    return [Span(money(total.usage.cost_usd) + ("+" if total.cost_unknown else ""), "soft")]


def _status(card: CardView) -> list[Span]:
    status = card.item.status
    return [Span(status, MARKS[status][1])]


def _cell(found: Sequence[Span], width: int, *, right: bool = False) -> Iterable[Span]:
    """Spans in exactly ``width`` cells, and one before them; nothing where the column is left out."""
    if not width:
        return
    room, kept = width, []
    for span in found:
        kept.append(span._replace(text=clip(span.text, room)))
        room -= cell_len(kept[-1].text)
    pad = Span(" " * room)
    yield Span(" ")
    yield from [pad, *kept] if right else [*kept, pad]

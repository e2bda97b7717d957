"""A card as lines: title, what it is, its run, what the agent asks, how far its children are."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Final, Literal

from rich.cells import cell_len
from textual.strip import Strip

from screens import chips
from screens.confine import one_line
from screens.model import CardView
from screens.widgets.spans import Span, StyleOf, line, wrap
from store.records import Kind, Run

Ground = Literal["card", "cursor"]
"""At rest; under the cursor of the column that the keys go to."""

MARGIN: Final = 3
"""Cells beside the text: the stripe, a space, a space at the end."""
ROOMY: Final = 64
"""From this width on a card is two lines wide instead of four lines high."""


_CHILDREN: Final[Mapping[Kind, str]] = {"milestone": "item", "epic": "task", "task": "subtask", "subtask": "subtask"}


def height(card: CardView, width: int) -> int:
    """Lines that ``lines`` will give at this width."""
    asks = len(_asked(card, width))
    if width >= ROOMY:
        return 2 + asks
    return len(_lines(card.item.title, width - MARGIN)) + 1 + bool(card.run) + asks + bool(card.children_total)


def lines(card: CardView, width: int, ground: Ground, style_of: StyleOf, now: datetime) -> list[Strip]:
    """The card's lines, each exactly ``width`` cells."""
    rows = _roomy(card, width, now) if width >= ROOMY else _narrow(card, width, now)
    stripe = _stripe(card, ground)
    return [
        line([stripe, Span(" "), *left], [*right, Span(" ")] if right else [], width, style_of) for left, right in rows
    ]


_Row = tuple[list[Span], list[Span]]


def _narrow(card: CardView, width: int, now: datetime) -> list[_Row]:
    titles = _lines(card.item.title, width - MARGIN)
    rows: list[_Row] = [([Span(text, "ink", True)], []) for text in titles]
    runs = [Span(f"{card.run_count} runs", "soft")] if card.run_count > 1 else []
    rows.append((_about(card, width - MARGIN - (_cells(runs) + 1 if runs else 0)), runs))
    if card.run is not None:
        rows.append((_chip(card.run, now, width - MARGIN), []))
    rows += _question(card, width)
    if card.children_total:
        rows.append((_progress(card), []))
    return rows


def _roomy(card: CardView, width: int, now: datetime) -> list[_Row]:
    right = run_spans(card.run, now) if card.run is not None else []
    about = _about(card, width)
    if card.run_count > 1:
        about.append(Span(f"  {card.run_count} runs", "soft"))
    progress = _progress(card) if card.children_total else []
    return [([Span(one_line(card.item.title), "ink", True)], right), (about, progress), *_question(card, width)]


def run_spans(run: Run, now: datetime) -> list[Span]:
    """The chip of a run as spans."""
    said = chips.state(run)
    before, word, after = chips.chip(run, now).partition(said.word)
    return [
        Span(said.glyph, said.tone, True),
        Span(before.removeprefix(said.glyph), "ink"),
        Span(word, said.tone, said.tone == "waiting"),
        Span(after, "soft"),
    ]


def _chip(run: Run, now: datetime, width: int) -> list[Span]:
    """The chip; without its source, its age, its word for a bad end, where these would cut what matters more."""
    spans = run_spans(run, now)
    if _cells(spans) > width:
        spans = spans[:-1]
    if _cells(spans) > width:
        spans[1] = Span(f" {one_line(run.provider)} ", "ink")
    if _cells(spans) > width:
        spans[2] = spans[2]._replace(text=spans[2].text.removeprefix("failed, "))
    return spans


def _about(card: CardView, width: int) -> list[Span]:
    """What it is, whose, about what; the glyph alone says what it is where the word would cut the others."""
    item = card.item
    glyph = chips.KIND_GLYPHS[item.kind]
    spans = [Span(f"{glyph} {item.kind}", "kind")]
    if item.assignee:
        spans.append(Span(f"  @{one_line(item.assignee)}", "person"))
    if item.labels:
        spans.append(Span("  " + " ".join(f"#{one_line(label)}" for label in item.labels), "label"))
    if _cells(spans) > width and len(spans) > 1:
        spans[0] = Span(glyph, "kind")
    return spans


def _question(card: CardView, width: int) -> list[_Row]:
    return [([Span(f"  {said}", "waiting")], []) for said in _asked(card, width)]


def _asked(card: CardView, width: int) -> list[str]:
    if card.run is None or not card.waiting or not (said := chips.note(card.run)):
        return []
    return _lines(said, width - MARGIN - 2)


def _progress(card: CardView) -> list[Span]:
    done, total = card.children_done, card.children_total
    full, empty = chips.bar(done, total)
    noun = _CHILDREN[card.item.kind] + ("" if total == 1 else "s")
    return [Span(full, "good"), Span(empty, "soft"), Span(f" {done}/{total} {noun}", "soft")]


def _stripe(card: CardView, ground: Ground) -> Span:
    """The left edge: thick under the cursor, else a thin one in the colour of what needs a look."""
    if ground == "cursor":
        return Span("▌", "accent")
    if card.run is None or not card.run.live:
        return Span("▏", "rule")
    return Span("▎", chips.state(card.run).tone)


def _cells(spans: list[Span]) -> int:
    return sum(cell_len(span.text) for span in spans)


@lru_cache(maxsize=8192)
def _lines(text: str, width: int) -> list[str]:
    """At most two."""
    return wrap(one_line(text) or "(no title)", width, 2)

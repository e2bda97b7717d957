"""A card as lines: title, what it is, its run, what the agent asks, how far its children are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final, Literal

from rich.cells import cell_len
from textual.strip import Strip

from screens import chips
from screens.ages import age
from screens.amounts import compact
from screens.confine import one_line
from screens.model import CardView
from screens.widgets.spans import Span, StyleOf, line, wrap
from store.records import Kind, Run
from store.usage import tokens

Ground = Literal["card", "cursor"]
"""At rest; under the cursor of the column that the keys go to."""

MARGIN: Final = 3
"""Cells beside the text: the stripe, a space, a space at the end."""
ROOMY: Final = 64
"""From this width on a card is two lines wide instead of four lines high."""


_CHILDREN: Final[Mapping[Kind, str]] = {"milestone": "item", "epic": "task", "task": "subtask", "subtask": "subtask"}


def height(card: CardView, width: int) -> int:
    """Lines that ``lines`` will give at this width."""
    more = len(_asked(card, width)) + bool(card.alive) + bool(card.silence)
    if width >= ROOMY:
        return 2 + more
    return len(_lines(card.item.title, width - MARGIN)) + 1 + bool(card.run) + more + bool(card.children_total)


def lines(
    card: CardView, width: int, ground: Ground, style_of: StyleOf, now: datetime, *, selected: bool = False
) -> list[Strip]:
    """The card's lines, each exactly ``width`` cells."""
    rows = _roomy(card, width, now, selected) if width >= ROOMY else _narrow(card, width, now, selected)
    stripe = Span("█", "accent") if selected else _stripe(card, ground)
    return [
        line([stripe, Span(" "), *left], [*right, Span(" ")] if right else [], width, style_of) for left, right in rows
    ]


_Row = tuple[list[Span], list[Span]]


def _narrow(card: CardView, width: int, now: datetime, selected: bool) -> list[_Row]:
    titles = _lines(card.item.title, width - MARGIN)
    rows: list[_Row] = [([Span(text, "ink", True)], []) for text in titles]
    runs = [Span(f"{card.run_count} runs", "soft")] if card.run_count > 1 else []
    rows.append((_about(card, width - MARGIN - (cells(runs) + 1 if runs else 0), selected), runs))
    if card.run is not None:
        chip = chip_spans(card.run, now, width - MARGIN)
        rows.append((chip, _used(card, width - MARGIN - cells(chip))))
    rows += [*_flags(card, now), *_question(card, width)]
    if card.children_total:
        rows.append((_progress(card), []))
    return rows


def _roomy(card: CardView, width: int, now: datetime, selected: bool) -> list[_Row]:
    right = run_spans(card.run, now) if card.run is not None else []
    about = _about(card, width, selected)
    if card.run_count > 1:
        about.append(Span(f"  {card.run_count} runs", "soft"))
    progress = _progress(card) if card.children_total else _used(card, width)
    title = [Span(one_line(card.item.title), "ink", True)]
    return [(title, right), (about, progress), *_flags(card, now), *_question(card, width)]


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


def chip_spans(run: Run, now: datetime, width: int) -> list[Span]:
    """The chip; without its source, its age, its word for a bad end, where these would cut what matters more."""
    spans = run_spans(run, now)
    if cells(spans) > width:
        spans = spans[:-1]
    if cells(spans) > width:
        spans[1] = Span(f" {one_line(run.provider)} ", "ink")
    if cells(spans) > width:
        spans[2] = spans[2]._replace(text=spans[2].text.removeprefix("failed, "))
    return spans


def _about(card: CardView, width: int, selected: bool) -> list[Span]:
    """What it is, whose, about what; the glyph alone says what it is where the word would cut the others."""
    item = card.item
    glyph = chips.KIND_GLYPHS[item.kind]
    spans = [Span(f"{glyph} {item.kind}", "kind")]
    if card.project:
        spans.append(Span(f"  ◇ {one_line(card.project)}", "accent"))
    if item.assignee:
        spans.append(Span(f"  @{one_line(item.assignee)}", "person"))
    if item.labels:
        spans.append(Span("  " + " ".join(f"#{one_line(label)}" for label in item.labels), "label"))
    if cells(spans) > width and len(spans) > 1:
        spans[0] = Span(glyph, "kind")
    return [Span("✓ selected  ", "accent", True), *spans] if selected else spans


def _used(card: CardView, room: int) -> list[Span]:
    """Its tokens, where they are known and have room."""
    known = tokens(card.usage) if card.usage else None
    if known is None:
        return []
    told = next((each for each in (f"{compact(known)} tok", f"Σ {compact(known)}") if len(each) < room), "")
    return [Span(told, "soft")] if told else []


def _flags(card: CardView, now: datetime) -> list[_Row]:
    """Hints that something may be wrong, a line each."""
    rows: list[_Row] = []
    if card.alive:
        rows.append(([Span("! agent still alive", "bad", True)], []))
    if card.silence is not None:
        hangs = card.silence.level == "silent"
        said = f"… silent {age(card.silence.since, now)}, {'hangs' if hangs else 'done'}?"
        rows.append(([Span(said, "bad" if hangs else "waiting")], []))
    return rows


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


def cells(spans: Sequence[Span]) -> int:
    """How wide they are together."""
    return sum(cell_len(span.text) for span in spans)


@lru_cache(maxsize=8192)
def _lines(text: str, width: int) -> list[str]:
    """At most two."""
    return wrap(one_line(text) or "(no title)", width, 2)

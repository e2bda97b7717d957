"""The runs, the children and the history of an item as one list with a cursor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from rich.cells import cell_len
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from screens import marks
from screens.ages import age, moment, span
from screens.amounts import short_cost, short_tokens
from screens.confine import one_line
from screens.desk import Clock
from screens.model import CardView, ItemView
from screens.sentences import sentence
from screens.widgets.card import cells, run_spans
from screens.widgets.spans import Span, line
from screens.widgets.toned import Toned
from store.records import Event, Run, Usage

_Entry = Run | CardView | Event | str
"""A run, a child, something that happened, or a line that can't be chosen."""


class EntryList(Toned, ScrollView, can_focus=True, inherit_bindings=False):
    """One line each; only the visible ones are drawn."""

    @dataclass
    class Opened(Message):
        """An entry was clicked that had the cursor already."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="entries")
        self.cursor = 0
        self._clock = clock
        self._entries: list[_Entry] = []
        self._usages: Mapping[str, Usage] = {}

    @property
    def chosen(self) -> Run | CardView | Event | None:
        """What Enter would open."""
        entry = self._entries[self.cursor] if self.cursor < len(self._entries) else None
        return None if isinstance(entry, str) else entry

    def show(self, view: ItemView) -> None:
        """Take what is around an item; the cursor stays on what it was on."""
        before = _key(self.chosen)
        runs: list[_Entry] = [*view.runs] or ["No run yet. s starts one."]
        children: list[_Entry] = [*view.children] or ["No children. n makes one."]
        happened: list[_Entry] = ["", f"HISTORY · newest {len(view.events)}", *view.events] if view.events else []
        self._entries = [f"RUNS · {len(view.runs)}", *runs, "", f"CHILDREN · {len(view.children)}", *children]
        self._entries += happened
        self._usages = view.usages
        self.virtual_size = Size(self.size.width, len(self._entries))
        places = [at for at, entry in enumerate(self._entries) if not isinstance(entry, str)]
        same = [at for at in places if before and _key(self._entries[at]) == before]
        self.cursor = next(iter([*same, *places]), 0)
        self.refresh()

    def step(self, step: int) -> None:
        """Go to the next entry in a direction."""
        place = self.cursor + step
        while 0 <= place < len(self._entries) and isinstance(self._entries[place], str):
            place += step
        if 0 <= place < len(self._entries):
            self.cursor = place
            self.scroll_to_region(Region(0, place - 1, 1, 3), animate=False, immediate=True, force=True)
            self.refresh()

    def render_line(self, y: int) -> Strip:
        index = y + self.scroll_offset.y
        width = self.size.width
        if index >= len(self._entries):
            return self.blank(width, "column")
        entry = self._entries[index]
        ground = "cursor" if index == self.cursor and not isinstance(entry, str) else "column"
        left, right = self._spans(entry, width)
        bar = Span("▌" if ground == "cursor" else " ", "accent")
        return line([bar, *left], right, width, self.style_of(ground))

    def on_click(self, event: events.Click) -> None:
        index = event.y - self.gutter.top + self.scroll_offset.y
        if not 0 <= index < len(self._entries) or isinstance(self._entries[index], str):
            return
        if index == self.cursor and event.chain > 1:
            self.post_message(self.Opened())
        self.cursor = index
        self.refresh()

    def _spans(self, entry: _Entry, width: int) -> tuple[Sequence[Span], Sequence[Span]]:
        now = self._clock()
        if isinstance(entry, str):
            return [Span(entry, "soft", " · " in entry)], []
        if isinstance(entry, CardView):
            item = entry.item
            right = run_spans(entry.run, now) if entry.run and entry.run.live else []
            mark = {"todo": "○", "doing": "◐", "done": "✓", "cancelled": "–"}[item.status]
            tone = "good" if item.status == "done" else "soft"
            title = Span(one_line(item.title), "ink" if item.status in ("todo", "doing") else "soft")
            return [Span(f"{mark} {item.status:<9} ", tone), title], [*right, Span(" ")]
        if isinstance(entry, Event):
            return _happened(entry, now)
        took = span(entry.finished_at - entry.started_at) if entry.started_at and entry.finished_at else ""
        used = self._usages.get(entry.id)
        facts = [entry.host or "no host", f"attempt {entry.attempt}" if entry.attempt > 1 else "", took]
        facts += [f"{short_tokens(used)} tokens" if used else "", short_cost(used) if used and used.cost_usd else ""]
        chip = run_spans(entry, now)
        return chip, [Span(f"{_fitting([*facts, moment(entry.created_at, now)], width - cells(chip) - 4)} ", "soft")]


def _fitting(facts: Sequence[str], room: int) -> str:
    """The facts that have room, the last ones first."""
    told = [one_line(fact) for fact in facts if fact]
    while len(told) > 1 and cell_len(" · ".join(told)) > room:
        told.pop(0)
    return " · ".join(told)


def _happened(event: Event, now: datetime) -> tuple[Sequence[Span], Sequence[Span]]:
    glyph, tone = marks.mark(event)
    told = Span(sentence(event), "bad" if tone == "bad" else "ink")
    left = [Span(f"{age(event.at, now):>4} ", "soft"), Span(f"{glyph} ", tone, True), told]
    return left, [Span(f"{one_line(event.actor)} ", "soft")]


def _key(entry: _Entry | None) -> str:
    """What an entry is, whatever its place."""
    match entry:
        case Run():
            return entry.id
        case CardView():
            return entry.item.id
        case Event():
            return str(entry.seq)
        case _:
            return ""

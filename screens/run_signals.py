"""What was said about a run, by whom, and what became of it: rows for its page, made of its journal (PAM-COMP-007)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from screens.ages import moment
from screens.confine import one_line
from screens.marks import mark
from screens.sentences import sentence
from screens.widgets.rows import Heading, Line
from screens.widgets.spans import Span
from store.records import Event, Run

HEADINGS: Final = (
    Heading("when", 3),
    Heading("signal"),
    Heading("source"),
    Heading("attempt", 1),
    Heading("seq", 2),
    Heading("says", grows=True),
    Heading("became"),
)
_LIFECYCLE: Final = {"run.started": "started", "run.finished": "finished"}
_LATE: Final = ("started", "finished")
"""Kinds that move a run; journaled as a signal only where the run was over already."""
TURNED_AWAY: Final = (
    "Repeats, words out of order and words of earlier attempts change nothing; no line is kept of them."
)
NONE: Final = "Nothing was said of it yet."


def signals(events: Sequence[Event], run: Run, now: datetime) -> list[Line]:
    """One row a signal, in the order of ``events``; others of them are left out."""
    return [_line(event, run, now) for event in events if event.topic in (*_LIFECYCLE, "run.signal_received")]


def _line(event: Event, run: Run, now: datetime) -> Line:
    facts = event.payload
    kind = _LIFECYCLE.get(event.topic) or one_line(str(facts.get("kind") or "signal"))
    glyph, tone = mark(event)
    attempt, seq = facts.get("attempt"), facts.get("seq")
    old = isinstance(attempt, int) and attempt < run.attempt
    return Line(
        str(event.seq),
        (
            Span(moment(event.at, now, seconds=True), "soft"),
            Span(f"{glyph} {kind}", tone, True),
            Span(one_line(str(facts.get("source") or "wrapper")), "label"),
            Span("" if attempt is None else str(attempt), "soft" if old else "ink"),
            Span("" if seq is None else str(seq), "soft"),
            Span(sentence(event), "soft" if old else "ink"),
            _became(event, kind),
        ),
    )


def _became(event: Event, kind: str) -> Span:
    if event.topic == "run.signal_received" and kind in _LATE:
        return Span("– too late", "waiting")
    return Span("✓ applied", "good")

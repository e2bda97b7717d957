"""What is to be known about a run, above its screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from rich.cells import cell_len
from textual.reactive import reactive
from textual.strip import Strip

from screens import chips, stopping
from screens.ages import age, ago, moment, span
from screens.amounts import UNKNOWN, context, money, parts
from screens.confine import one_line
from screens.desk import Clock
from screens.model import ExecutorState, RunView
from screens.widgets.card import run_spans
from screens.widgets.spans import Span, line
from screens.widgets.toned import Toned

CELL = 38
"""Least width of a fact; as many columns as fit."""


class Fact(NamedTuple):
    """A label and what stands after it."""

    label: str
    value: str
    tone: str = "ink"
    high: bool = False
    """Whether it is left out where the window is low."""


class RunHead(Toned):
    """The run's chip and its item, then the facts in columns; few facts where the window is low."""

    view: reactive[RunView | None] = reactive(None)

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="run-head")
        self._clock = clock
        self.executor: ExecutorState = "here"
        """Who would carry out a stop."""

    def watch_view(self) -> None:
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        rows = self._rows(width)
        if y >= len(rows):
            return self.blank(width, "column")
        left, right = rows[y]
        return line(left, right, width, self.style_of("column"))

    def tick(self) -> None:
        """A minute has passed."""
        self.refresh()

    def _lay_out(self) -> None:
        self.styles.height = len(self._rows(self.size.width)) + self.gutter.height

    def _rows(self, width: int) -> list[tuple[Sequence[Span], Sequence[Span]]]:
        view, now = self.view, self._clock()
        if view is None:
            return [([Span(" Reading…", "soft")], [])]
        title = Span(one_line(view.item.title), "ink", True)
        rows: list[tuple[Sequence[Span], Sequence[Span]]] = [
            ([Span(" "), title], [*run_spans(view.run, now), Span(" ")])
        ]
        if said := chips.note(view.run):
            rows.append(([Span(f" {chips.state(view.run).glyph} {said}", chips.state(view.run).tone)], []))
        if spans := stopping.progress(view, self.executor, now):
            rows.append((spans, []))
        low = self.is_attached and self.screen.has_class("-low")
        facts = [fact for fact in _facts(view, now) if not (low and fact.high)]
        rows += [(spans, []) for spans in _grid(facts, width)]
        return rows


def _grid(facts: Sequence[Fact], width: int) -> list[list[Span]]:
    """Facts in columns of one width, row by row; a fact that is too long for a column takes two."""
    width = max(width - 2, CELL)
    columns = width // CELL
    cell = width // columns
    rows: list[list[Span]] = []
    free = 0
    for fact in facts:
        size = cell_len(fact.value) + 12
        need = min(-(-size // cell), columns)
        if need > free:
            rows.append([Span(" ")])
            free = columns
        pad = " " * max(need * cell - size, 1)
        rows[-1] += [Span(f"{fact.label:<10} ", "soft"), Span(fact.value, fact.tone), Span(pad)]
        free -= need
    return rows


def _facts(view: RunView, now: datetime) -> Iterator[Fact]:
    run = view.run
    yield Fact("provider", one_line(run.provider) + (f" · {one_line(run.model)}" if run.model else ""))
    yield _host(view)
    yield Fact("session", run.session_name, high=True)
    yield Fact("attempt", f"{run.attempt} of {run.max_attempts}")
    if run.started_at is None:
        yield Fact("waits", f"since {moment(run.pending_since, now)} ({ago(run.pending_since, now)})")
    else:
        yield Fact("started", f"{moment(run.started_at, now)} ({ago(run.started_at, now)})", high=True)
        end = run.finished_at
        yield Fact("took" if end else "runs for", span(end - run.started_at) if end else _so_far(run.started_at, now))
    if view.lease is not None:
        yield Fact("typed by", one_line(view.lease.holder), "person")
    yield from _used(view)
    if view.silence is not None:
        hangs = view.silence.level == "silent"
        says = f"for {age(view.silence.since, now)}, it may {'hang' if hangs else 'be done'}"
        yield Fact("no output", says, "bad" if hangs else "waiting")
    if not run.live:
        yield _exit(view)
    yield Fact("directory", one_line(run.cwd))


def _used(view: RunView) -> Iterator[Fact]:
    """What it has used of its model; what nobody told is unknown, and never nothing."""
    used = view.usage
    if used is None:
        if view.run.started_at is not None:
            yield Fact("tokens", UNKNOWN, "soft")
        return
    yield Fact("tokens", parts(used)) if parts(used) else Fact("tokens", UNKNOWN, "soft")
    yield Fact("cost", UNKNOWN, "soft") if used.cost_usd is None else Fact("cost", money(used.cost_usd))
    if filled := context(used):
        yield Fact("context", filled, high=True)


def _so_far(start: datetime, now: datetime) -> str:
    short = age(start, now)
    return "less than a minute" if short == "now" else short


def _host(view: RunView) -> Fact:
    if view.host is None:
        return Fact("host", "none yet", "soft")
    if view.host.status == "online" and not view.host.instance_suspect:
        return Fact("host", one_line(view.host.name))
    trouble = "suspect" if view.host.instance_suspect else view.host.status
    return Fact("host", f"✗ {one_line(view.host.name)} ({trouble})", "bad")


def _exit(view: RunView) -> Fact:
    run = view.run
    if run.exit_code is None:
        return Fact("exit", "unknown" if run.failure_reason is None else chips.FAILURES[run.failure_reason], "soft")
    said = f"signal {-run.exit_code}" if run.exit_code < 0 else f"code {run.exit_code}"
    return Fact("exit", said, "good" if run.exit_code == 0 else "bad")

"""The top line: where you are, whether the executor runs, which hosts answer, who waits, what is new, the time."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.reactive import reactive
from textual.strip import Strip

from screens.confine import one_line
from screens.desk import Clock
from screens.model import HeaderFacts
from screens.widgets.spans import Span, line
from screens.widgets.toned import Toned
from store.history import MOST_UNREAD

_PROJECT = "screen.do('everywhere.project')"
_WAITING = "screen.do('everywhere.waiting')"
_ACTIVITY = "screen.do('everywhere.activity')"


class HeaderBar(Toned):
    """One line; it says less where there is less room, and never leaves out who waits."""

    facts: reactive[HeaderFacts] = reactive(HeaderFacts("starting"))
    crumbs: reactive[tuple[str, ...]] = reactive(())
    """Where you are, from the project down."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def render_line(self, _: int) -> Strip:
        width = self.size.width
        right = next(
            (spans for spans in (self._full(), self._short()) if _cells(spans) <= width - self._least()),
            self._least_spans(),
        )
        return line(self._place(), right, width, self.style_of("bar"))

    def tick(self) -> None:
        """A minute has passed."""
        self.refresh()

    def _place(self) -> list[Span]:
        spans = [Span(" pam ", "on-accent", True, ground="accent"), Span("  ")]
        if not self.crumbs:
            return [*spans, Span("no project ▾", "soft", action=_PROJECT)]
        crumbs = self._crumbs()
        for index, crumb in enumerate(crumbs):
            if index:
                spans.append(Span(" › ", "soft"))
            last = index == len(crumbs) - 1
            spans.append(Span(one_line(crumb), "ink" if last else "soft", last, _PROJECT if not index else ""))
        if len(self.crumbs) <= 1:
            spans.append(Span(" ▾", "soft", action=_PROJECT))
        return spans

    def _crumbs(self) -> tuple[str, ...]:
        """All of the way, or its two ends where there is no room for it."""
        whole = sum(cell_len(crumb) + 3 for crumb in self.crumbs)
        if len(self.crumbs) < 3 or whole < self.size.width // 2:
            return self.crumbs
        return (self.crumbs[0], "…", self.crumbs[-1])

    def _least(self) -> int:
        """Cells to keep for where you are."""
        width = self.size.width
        return max(min(_cells(self._place()), width // 2), width // 3) + 2

    def _full(self) -> list[Span]:
        facts = self.facts
        hosts = f"hosts {facts.hosts_online}/{facts.hosts_total}"
        tone = "soft" if facts.hosts_online == facts.hosts_total else "waiting"
        parts: list[Sequence[Span]] = [self._executor(), [Span(hosts, tone)], self._agents(), self._waiting()]
        if facts.unread:
            count = str(facts.unread) if facts.unread < MOST_UNREAD else f"{MOST_UNREAD - 1}+"
            parts.append([Span(f"✉ {count} new", "soft", action=_ACTIVITY)])
        return _joined([*parts, [Span(f"{self._clock():%H:%M} ", "ink")]], "   ")

    def _short(self) -> list[Span]:
        hosts = [Span(f"{self.facts.hosts_online}/{self.facts.hosts_total} hosts", "soft")]
        return _joined([self._executor()[:1], hosts, self._waiting(), [Span(f"{self._clock():%H:%M} ", "ink")]], "  ")

    def _least_spans(self) -> list[Span]:
        return _joined([self._executor()[:1], [*self._waiting(), Span(" ")]], "  ")

    def _executor(self) -> list[Span]:
        match self.facts.executor:
            case "here":
                return [Span("● executor", "working")]
            case "elsewhere":
                return [Span("● executor", "working"), Span(" elsewhere", "soft")]
            case "starting":
                return [Span("◌ executor", "pending"), Span(" starting", "soft")]
            case "down":
                return [Span("✗ executor down", "bad", True)]

    def _agents(self) -> list[Span]:
        live = self.facts.live
        return [Span(f"{live} agent{'' if live == 1 else 's'}", "ink" if live else "soft")]

    def _waiting(self) -> list[Span]:
        count = self.facts.waiting
        if not count:
            return [Span("⚑ 0 waiting", "soft")]
        return [Span(f"⚑ {count} waiting", "waiting", True, _WAITING)]


def _joined(parts: Sequence[Sequence[Span]], gap: str) -> list[Span]:
    spans: list[Span] = []
    for part in parts:
        if spans:
            spans.append(Span(gap))
        spans += part
    return spans


def _cells(spans: Sequence[Span]) -> int:
    return sum(cell_len(span.text) for span in spans)

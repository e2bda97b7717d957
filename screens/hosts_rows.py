"""A host in words: its row in the table, its facts, the rows of its runs; and what an event changes of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from screens import chips
from screens.ages import age, ago
from screens.confine import one_line
from screens.model import RunView
from screens.model.hosts import HostView, Machine
from screens.widgets.rows import Heading, Line
from screens.widgets.sheet import Fact
from screens.widgets.spans import Span
from store.records import Event, Host

HOSTS: Final = (
    Heading("host", grows=True),
    Heading("status"),
    Heading("reached by", 6),
    Heading("platform", 5),
    Heading("tmux", 7),
    Heading("seen", 3),
    Heading("runs", 2),
    Heading("load", 4),
    Heading("flags", 1),
)
RUNS: Final = (
    Heading("state"),
    Heading("agent"),
    Heading("for", 1),
    Heading("item", grows=True),
    Heading("project", 2),
    Heading("attempt", 3),
)
_STATES: Final = {
    "online": ("●", "online", "good"),
    "offline": ("✗", "offline", "bad"),
    "disabled": ("◼", "disabled", "pending"),
    "registered": ("◌", "never seen", "soft"),
}
_WHOLE: Final = ("host.", "worker.", "run.orphan_", "run.alive_after_end", "project.", "work_item.")
"""Topics after which the hosts are read anew."""


def state(host: Host) -> tuple[str, str, str]:
    """Glyph, word and tone."""
    return ("▲", "suspect", "waiting") if host.instance_suspect else _STATES[host.status]


def host_line(view: HostView, machine: Machine, now: datetime) -> Line:
    """Its row; of other machines than this one tmux and load are not known."""
    host, here = view.host, view.host.transport == "local"
    glyph, word, tone = state(host)
    waiting = sum(chips.waits(each.run) for each in view.runs)
    busy = f"{len(view.runs)}" + (f", {waiting} wait{'s' if waiting == 1 else ''}" if waiting else "")
    seen = ago(host.last_seen_at, now) if host.last_seen_at else "never"
    load, strained = machine.load, machine.load is not None and machine.load[0] > machine.cores > 0
    return Line(
        host.id,
        (
            Span(one_line(host.name), "ink", bold=True),
            Span(f"{glyph} {word}", tone),
            Span(host.transport if here else f"{host.transport} {one_line(host.ssh_target or '')}".rstrip(), "soft"),
            Span(host.platform, "soft"),
            _tmux(machine) if here else Span("", "soft"),
            Span(seen, "soft"),
            Span(busy, "waiting" if waiting else "working" if view.runs else "soft"),
            Span(f"{load[0]:.2f}" if here and load else "", "waiting" if strained else "soft"),
            _flags(view),
        ),
    )


def facts(view: HostView, machine: Machine, now: datetime) -> Iterator[Fact]:
    """Everything there is to say about a host."""
    host, here = view.host, view.host.transport == "local"
    glyph, word, tone = state(host)
    yield Fact("status", word, tone, glyph, _advice(host))
    reached = "this machine" if here else f"{host.transport} {one_line(host.ssh_target or '')}".rstrip()
    yield Fact("reached by", reached)
    yield Fact("platform", host.platform)
    if host.work_root:
        yield Fact("work root", one_line(host.work_root))
    yield Fact("seen", ago(host.last_seen_at, now) if host.last_seen_at else "never")
    if here:
        yield from _this_machine(machine)
    for orphan in view.orphans:
        sentence = f"{one_line(orphan.session)} is in no run, found {ago(orphan.since, now)}"
        yield Fact("orphan", sentence, "waiting", "◇", "R shows what becomes of it.")
    for left in view.leftovers:
        run = left.run
        sentence = f"{run.session_name} counts as {run.status}, but its agent lives on: {one_line(left.item.title)}"
        how = f": `kill {run.agent_pid}` there" if run.agent_pid else ""
        yield Fact("leftover", sentence, "bad", "✗", f"It is yours to end{how}.")


def run_line(view: RunView, now: datetime) -> Line:
    """The row of a run."""
    run = view.run
    said = chips.state(run)
    source = f" ({said.source})" if said.source else ""
    return Line(
        run.id,
        (
            Span(f"{said.glyph} {said.word}{source}", said.tone),
            Span(one_line(run.provider), "ink"),
            Span(age(said.since, now) if said.since else "", "soft"),
            Span(one_line(view.item.title), "ink"),
            Span(one_line(view.project.name), "soft"),
            Span(f"{run.attempt} of {run.max_attempts}" if run.attempt > 1 else "", "soft"),
        ),
    )


def wants_all(events: Iterable[Event]) -> bool:
    """Whether more than runs may have changed."""
    return any(event.topic.startswith(_WHOLE) for event in events)


def with_runs(views: Sequence[HostView], asked: Iterable[str], found: Iterable[RunView]) -> list[HostView]:
    """The hosts after the runs ``asked`` for turned out to be ``found``: those that live, wherever they live now."""
    gone, live = set(asked), list(found)
    return [
        replace(
            view,
            runs=sorted(
                [each for each in view.runs if each.run.id not in gone]
                + [each for each in live if each.run.host_id == view.host.id],
                key=lambda each: (not chips.waits(each.run), each.run.created_at, each.run.id),
            ),
        )
        for view in views
    ]


def _this_machine(machine: Machine) -> Iterator[Fact]:
    if machine.load is not None:
        said = " ".join(f"{load:.2f}" for load in machine.load)
        yield Fact("load", f"{said} over 1, 5 and 15 minutes, on {machine.cores} cores")
    if machine.trouble:
        yield Fact("tmux", machine.trouble, "bad", "✗")
    elif machine.tmux:
        noun = "known fault" if len(machine.faults) == 1 else "known faults"
        yield Fact("tmux", machine.tmux + (f", {len(machine.faults)} {noun}" if machine.faults else ""))
        for fault in machine.faults:
            yield Fact("", fault, "soft", "▵")


def _tmux(machine: Machine) -> Span:
    if machine.trouble:
        return Span("✗ unusable", "bad")
    return Span(machine.tmux + (f" ▵{len(machine.faults)}" if machine.faults else ""), "soft")


def _flags(view: HostView) -> Span:
    parts = []
    if view.leftovers:
        parts.append(f"✗ {len(view.leftovers)} leftover")
    if view.orphans:
        parts.append(f"◇ {len(view.orphans)} orphan{'' if len(view.orphans) == 1 else 's'}")
    if view.host.instance_suspect:
        parts.append("▲ suspect")
    return Span("  ".join(parts), "bad" if view.leftovers else "waiting")


def _advice(host: Host) -> str:
    if host.instance_suspect:
        return "Another instance answers under this name. Look at the machine; then c trusts it."
    if host.status == "disabled":
        return "No new run goes there; those that run go on. d enables it."
    if host.status == "offline":
        return "It is asked again and again; its runs are kept until it answers."
    return ""

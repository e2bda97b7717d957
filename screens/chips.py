"""How a run's state is said: glyph and colour and word, so that it reads without any one of them.

``● claude 12m working (hook)``: the glyph, the provider, how long it has been so, the word, who says so. Unknown is
said as unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from screens.ages import age
from screens.confine import one_line
from store.records import Kind, Run

Tone = Literal["working", "waiting", "idle", "pending", "good", "bad", "soft"]
"""What a state means; each is a colour of the palette."""

FAILURES: dict[str, str] = {
    "host_lost": "host lost",
    "session_lost": "session lost",
    "spawn_failed": "could not start",
    "restart_exhausted": "gave up restarting",
    "dispatch_timeout": "nobody took it",
    "no_eligible_host": "no host for it",
}
KIND_GLYPHS: dict[Kind, str] = {"milestone": "◆", "epic": "▣", "task": "▪", "subtask": "▫"}


@dataclass(frozen=True, slots=True)
class State:
    """A run's state in one glyph, one phrase, one tone."""

    glyph: str
    word: str
    tone: Tone
    source: str = ""
    """Who says so, when that matters: ``hook``, ``agent``."""
    since: datetime | None = None


def state(run: Run) -> State:
    """What to say about a run."""
    if run.live and run.stop_requested_at is not None:
        return State("◼", "stopping", "pending", since=run.stop_requested_at)
    match run.status:
        case "pending":
            return State("◔", "pending", "pending", since=run.pending_since)
        case "spawning":
            return State("◑", "starting", "pending", since=run.pending_since)
        case "running":
            return _activity(run)
        case "exited":
            return State("✓", "exited 0", "good", since=run.finished_at)
        case "failed":
            return State("✗", _failure(run), "bad", since=run.finished_at or run.updated_at)
        case "stopped":
            return State("■", "stopped", "soft", since=run.finished_at)


def chip(run: Run, now: datetime) -> str:
    """The whole chip as plain text: ``● claude 12m working (hook)``."""
    said = state(run)
    parts = [said.glyph, one_line(run.provider)]
    if said.since is not None:
        parts.append(age(said.since, now))
    parts.append(said.word)
    if said.source:
        parts.append(f"({said.source})")
    if again := restart(run, now):
        parts.append(f"· {again}")
    return " ".join(parts)


def restart(run: Run, now: datetime) -> str:
    """When a failed run is restarted, as a time of day that stays true however long it is shown; empty if never."""
    if run.status != "failed" or run.retry_at is None:
        return ""
    return f"restarts at {run.retry_at.astimezone(now.tzinfo):%H:%M:%S}"


def waits(run: Run | None) -> bool:
    """Whether the run waits for the operator."""
    return run is not None and run.status == "running" and run.activity == "waiting"


def note(run: Run) -> str:
    """What the agent asks or says it does, in one line; empty when it said nothing or has ended."""
    return one_line(run.activity_note or "") if run.status == "running" else ""


def bar(done: int, total: int, cells: int = 8) -> tuple[str, str]:
    """The full and the empty part of ``▰▰▱``: one cell a child up to ``cells``, in proportion beyond."""
    width = min(total, cells)
    full = width if done >= total else min(width - 1, round(done * width / total))
    if done and not full and width > 1:
        full = 1
    return "▰" * full, "▱" * (width - full)


def _activity(run: Run) -> State:
    source = _source(run.activity_source)
    since = run.activity_at or run.started_at
    match run.activity:
        case "working":
            return State("●", "working", "working", source, since)
        case "waiting":
            return State("⚑", "waiting", "waiting", source, since)
        case "idle":
            return State("○", "idle", "idle", source, since)
        case "unknown":
            return State("◌", "unknown", "soft", source, since)


def _source(source: str | None) -> str:
    return (source or "").partition(":")[0]


def _failure(run: Run) -> str:
    reasons = [FAILURES[run.failure_reason]] if run.failure_reason is not None else []
    if run.failure_reason == "restart_exhausted" and run.last_failure_reason is not None:
        reasons.append(FAILURES[run.last_failure_reason])
    elif run.failure_reason in (None, "restart_exhausted") and run.exit_code is not None:
        reasons.append(f"signal {-run.exit_code}" if run.exit_code < 0 else f"exit {run.exit_code}")
    return ", ".join(["failed", *reasons])

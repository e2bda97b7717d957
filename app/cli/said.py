"""Times, runs and events as lines of the command line say them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from app.cli.output import clean_line
from app.cli.table import table
from screens import ages, amounts, chips
from screens.sentences import sentence
from store.paths import absolute
from store.records import Event, Run, Usage


def now() -> datetime:
    """The present in the zone of this machine."""
    return datetime.now().astimezone()


def ago(then: datetime | None) -> str:
    """``12m ago``; a dash for never."""
    return ages.ago(then, now()) if then else "-"


def when(then: datetime) -> str:
    """A time of day today, a date before."""
    return ages.moment(then, now())


def ended(run: Run) -> str:
    """How a run stands, in a word or a few: ``running``, ``failed, exit 3``."""
    return chips.state(run).word


def run_table(
    found: Sequence[Run], short: Callable[[str], str], titles: Mapping[str, str], used: Mapping[str, Usage]
) -> str:
    """Runs, one a line; ``titles`` are those of their tasks, and ``used`` is what is known of each."""
    rows = [
        [
            short(run.id),
            run.status,
            run.activity if run.status == "running" else "-",
            run.provider,
            run.host or "-",
            run.session_name,
            str(run.attempt),
            ago(run.started_at or run.created_at),
            "-" if run.exit_code is None else str(run.exit_code),
            amounts.short_tokens(used.get(run.id)),
            amounts.short_cost(used.get(run.id)),
            titles.get(run.task_id, ""),
        ]
        for run in found
    ]
    heads = (
        "RUN",
        "STATUS",
        "ACTIVITY",
        "PROVIDER",
        "HOST",
        "SESSION",
        "TRY",
        "STARTED",
        "EXIT",
        "TOKENS",
        "COST",
        "TASK",
    )
    return table(heads, rows, empty="No runs. Start one with `pam run start --task T --provider P`.")


def event_table(found: Sequence[Event]) -> str:
    """Events, one a line."""
    rows = [
        [str(event.seq), when(event.at), event.topic, event.actor, sentence(event), subject(event)] for event in found
    ]
    return table(("SEQ", "AT", "TOPIC", "ACTOR", "WHAT", "ABOUT"), rows, empty="No events.")


def event_line(event: Event) -> str:
    """The same as a single line, for a stream of them."""
    parts = (str(event.seq), when(event.at), f"{event.topic:<26}", event.actor, sentence(event), subject(event))
    return clean_line("  ".join(part for part in parts if part))


def subject(event: Event) -> str:
    """What an event is about: a session, a slug, a host, or a short id."""
    facts = event.payload
    for name in ("session_name", "slug", "host", "title"):
        if facts.get(name):
            return str(facts[name])
    for name in ("item_id", "run_id", "project_id"):
        if facts.get(name):
            return str(facts[name])[:8]
    return ""


def directory(words: str | None) -> str | None:
    """A directory that the operator named from where he stands, from / on; nothing for nothing. Raises InvalidValue."""
    return os.path.normpath(absolute(words, "cwd")) if words else None

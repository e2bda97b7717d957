"""A run as people and scripts read it: its page, its signals, why it failed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.cli.shapes import Shape
from app.cli.table import facts, section
from store.records import Event, Lease, Run

if TYPE_CHECKING:
    from executor.metrics import Usage
    from store.database import Store
    from store.records import Usage as Tokens
    from store.silence import Silence, SilenceLevel

_LIFECYCLE = {"run.started": "started", "run.finished": "finished"}


def signals(events: Sequence[Event]) -> list[Shape]:
    """What was said about a run and by whom, from its events (PAM-COMP-007)."""
    made: list[Shape] = []
    for event in events:
        facts_ = event.payload
        if event.topic == "run.signal_received":
            kind, said = facts_.get("kind"), facts_.get("said")
        elif event.topic in _LIFECYCLE:
            kind = _LIFECYCLE[event.topic]
            said = {name: facts_[name] for name in ("pid", "exit_code", "spawn_error") if facts_.get(name) is not None}
        else:
            continue
        source = facts_.get("source") or "wrapper"
        made.append(
            {"kind": kind, "source": source, "attempt": facts_.get("attempt"), "seq": facts_.get("seq")}
            | {"at": event.at, "said": said or {}}
        )
    return made


def failure(events: Sequence[Event], run: Run) -> str:
    """Why the run failed, in the words of whoever noticed; empty when nobody said."""
    for event in reversed(events):
        if event.payload.get("attempt") == run.attempt:
            words = event.payload.get("detail") or event.payload.get("spawn_error")
            if words:
                return str(words)
    return ""


def completion(events: Sequence[Event], run: Run) -> Shape | None:
    """Who said of this attempt that the work is done, and how it came out: a hook, the agent, or its clean exit."""
    found = None
    for said in signals(events):
        if said["attempt"] != run.attempt:
            continue
        words = said["said"]
        if not isinstance(words, dict):
            continue
        if said["kind"] == "completed" and found is None:
            found = {"result": words.get("result", "success"), "source": said["source"], "at": said["at"]}
        elif said["kind"] == "finished" and found is None and words.get("exit_code") == 0:
            found = {"result": "exit code 0", "source": said["source"], "at": said["at"]}
    return found


SILENCES: dict[SilenceLevel, str] = {"idle": "it may be done", "silent": "it may hang"}


def page(
    store: Store,
    run: Run,
    events: Sequence[Event],
    lease: Lease | None,
    silence: Silence | None,
    usage: Usage | None,
    used: Tokens | None,
) -> str:
    """Everything about one run; ``used`` is what it has used of its model."""
    from app.cli.said import ago, ended, event_table, now
    from screens import amounts, chips
    from store import items

    task = items.get(store, run.task_id)
    head = facts(
        [
            ("run", run.id),
            ("task", f"{task.title} ({task.id[:8]})"),
            ("provider", " ".join(filter(None, (run.provider, run.model)))),
            ("host", run.host),
            ("session", run.session_name),
            ("status", ended(run) if run.status == "failed" else run.status),
            ("why", failure(events, run) if run.status == "failed" else ""),
            ("restart", chips.restart(run, now())),
            ("silent", f"since {ago(silence.since)}; {SILENCES[silence.level]}" if silence else ""),
            ("stop asked", ago(run.stop_requested_at) if run.stop_requested_at and run.live else ""),
            ("activity", _activity(run)),
            ("completed", _completed(completion(events, run))),
            ("attempt", f"{run.attempt} of {run.max_attempts}, restarts: {run.restart_policy}"),
            ("takes", taken(usage) if usage else ""),
            ("model", used.model if used and used.model != run.model else ""),
            ("tokens", amounts.parts(used) if used else ""),
            ("cost", amounts.money(used.cost_usd) if used and used.cost_usd is not None else ""),
            ("context", amounts.context(used) if used else ""),
            ("directory", run.cwd),
            ("arguments", shlex.join(run.args)),
            ("exit code", None if run.exit_code is None else str(run.exit_code)),
            ("started", ago(run.started_at) if run.started_at else ""),
            ("finished", ago(run.finished_at) if run.finished_at else ""),
            ("types into it", lease.holder if lease else ""),
            ("prompt", run.prompt),
        ]
    )
    return head + section("History", event_table(events))


def taken(usage: Usage) -> str:
    """``12 % of a core, 340 MiB, 5 processes``."""
    each = f"{usage.processes} process{'' if usage.processes == 1 else 'es'}"
    return f"{usage.cpu_percent:.0f} % of a core, {usage.rss_bytes / 1024**2:.0f} MiB, {each}"


def _completed(found: Shape | None) -> str:
    return f"{found['result']}, says {found['source']}" if found else ""


def _activity(run: Run) -> str:
    if run.status != "running":
        return ""
    from app.cli.said import ago

    source = f" ({run.activity_source}, {ago(run.activity_at)})" if run.activity_source else ""
    return f"{run.activity}{source}" + (f": {run.activity_note}" if run.activity_note else "")

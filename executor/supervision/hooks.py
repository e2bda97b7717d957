"""From a hook's line in the spool to the signals that the ingest edge takes.

The recipe of the CLI says what a payload means; here that becomes ``progress``, ``completed`` and ``failed``. What
would change nothing is left out: an agent ends hundreds of tools an hour.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import replace

from providers.recipes.recipe import Recipe, Said
from providers.recipes.registry import recipe
from store import runs, signals, usage
from store.database import Store
from store.records import Run, Signal
from store.redaction import Redactor

log = logging.getLogger("pam.hooks")

_HIDE = Redactor({})

HOOK = "hook"
"""Kind of a line that carries a payload as the CLI gave it."""


def said_by(line: Signal) -> Said | None:
    """What a hook's line says; None when nothing, when no recipe knows it, or when it is damaged."""
    name = line.source.removeprefix("hook:")
    known = recipe(name)
    if known is None:
        log.debug("A hook of %a, which no recipe knows", name)
        return None
    event, payload = str(line.payload.get("event") or ""), _payload(line)
    return None if payload is None else _read(known, event, payload)


def signals_of(line: Signal, said: Said, run: Run) -> list[Signal]:
    """The signals, in the order in which they are applied. ``run`` is as it was before them."""
    if said.answered is not None and (run.activity, run.activity_note) != ("waiting", said.answered):
        said = replace(said, activity=None)  # a tool that nobody was asked about, perhaps a subagent's after the turn
    found = []
    facts = _facts(said)
    if facts not in ({}, {"activity": run.activity}):
        found.append(replace(line, kind="progress", payload=facts))
    if said.completed:
        found.append(replace(line, kind="completed", seq=None, payload={"result": "success"}))
    if said.failed:
        found.append(replace(line, kind="failed", seq=None, payload={"error": said.failed}))
    return found


def apply(store: Store, line: Signal, said: Said, *, auto_mark_done: bool) -> None:
    """Take what was said to the ingest edge. Raises NotFound, or ProtocolError for an attempt to come."""
    for signal in signals_of(line, said, runs.get(store, line.run_id)):
        applied = signals.ingest(store, signal, auto_mark_done=auto_mark_done)
        log.debug("%s of run %s: %s", signal.kind, signal.run_id, applied.reason)
    if said.usage is not None and line.attempt is not None:
        usage.record_usage(store, line.run_id, line.attempt, said.usage, actor=line.source)


def _facts(said: Said) -> dict[str, object]:
    note = (
        said.note
        or said.failed
        or (said.ask.line if said.ask else None)
        or ("interrupted" if said.interrupted else None)
    )
    ask = {"kind": said.ask.kind, "tool": said.ask.tool, "detail": said.ask.detail} if said.ask else None
    facts = {
        "activity": said.activity,
        "note": note,
        "ask": ask,
        "accepted": said.accepted or None,
        "conversation_id": said.conversation_id,
        "transcript": said.transcript,
        "model": said.model,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _payload(line: Signal) -> Mapping[str, object] | None:
    try:
        payload = json.loads(str(line.payload.get("raw") or "{}"))
    except (ValueError, RecursionError):
        payload = None
    if not isinstance(payload, dict):
        log.debug("A payload of %s that is no JSON object", line.source)
        return None
    # Before anybody compares what it says with what the store kept of it.
    return _HIDE.table(payload)


def _read(known: Recipe, event: str, payload: Mapping[str, object]) -> Said | None:
    said = known.read(event, payload)
    if said is None:
        log.debug("Nothing to learn from %s of %s", event or "a hook", known.name)
    return said

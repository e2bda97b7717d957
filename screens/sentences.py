"""Events of the journal as sentences."""

from __future__ import annotations

from collections.abc import Mapping

from screens.chips import FAILURES
from screens.confine import one_line
from store.records import Event

_PLAIN: Mapping[str, str] = {
    "run.created": "asked for",
    "run.stopped": "stopped",
    "run.stop_requested": "asked to stop",
    "run.requeued": "put back in the queue",
    "work_item.created": "item made",
    "work_item.reparented": "moved to another parent",
    "work_item.deleted": "item deleted",
}


def sentence(event: Event) -> str:
    """What happened, in a few words; a topic that is not known here is told by its name and facts."""
    facts = event.payload
    match event.topic:
        case "run.spawning":
            return f"taken by {_word(facts, 'host', 'a host')}"
        case "run.started":
            return f"agent runs{_number(facts, 'pid', ', pid ')}"
        case "run.finished":
            return f"ended{_ending(facts)}{_colon(facts, 'spawn_error')}"
        case "run.failed":
            reason = facts.get("failure_reason")
            return f"failed{_colon({'why': FAILURES.get(str(reason), reason)}, 'why')}{_colon(facts, 'detail')}"
        case "run.signal_received":
            return f"{_word(facts, 'kind', 'signal')}{_said(facts)}"
        case "work_item.status_changed":
            return f"moved from {_word(facts, 'from', '?')} to {_word(facts, 'to', '?')}"
    return _PLAIN.get(event.topic, event.topic.partition(".")[2].replace("_", " "))


def _ending(facts: Mapping[str, object]) -> str:
    code = facts.get("exit_code")
    if isinstance(code, int) and code < 0:
        return f" by signal {-code}"
    return _number(facts, "exit_code", " with ")


def _said(facts: Mapping[str, object]) -> str:
    said = facts.get("said")
    if isinstance(said, Mapping):
        words = [str(said[key]) for key in ("activity", "note", "message", "result", "error") if said.get(key)]
        return ": " + one_line(", ".join(words)) if words else ""
    return _colon(facts, "said")


def _word(facts: Mapping[str, object], key: str, otherwise: str) -> str:
    value = facts.get(key)
    return one_line(str(value)) if value else otherwise


def _colon(facts: Mapping[str, object], key: str) -> str:
    value = facts.get(key)
    return f": {one_line(str(value))}" if value else ""


def _number(facts: Mapping[str, object], key: str, before: str) -> str:
    value = facts.get(key)
    return f"{before}{value}" if isinstance(value, int) else ""

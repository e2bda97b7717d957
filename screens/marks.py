"""What stands beside an event's sentence: a glyph with its colour, whom it happened to, and where Enter leads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from screens.confine import one_line
from store.records import Event

_MARKS: Final[Mapping[str, tuple[str, str]]] = {
    "run.created": ("◔", "pending"),
    "run.spawning": ("◑", "pending"),
    "run.started": ("●", "working"),
    "run.failed": ("✗", "bad"),
    "run.stopped": ("■", "soft"),
    "run.stop_requested": ("◼", "pending"),
    "run.requeued": ("↻", "pending"),
    "run.restart_exhausted": ("✗", "bad"),
    "run.integrity_anomaly": ("!", "bad"),
    "run.alive_after_end": ("!", "waiting"),
    "run.orphan_detected": ("!", "waiting"),
    "run.silent": ("…", "idle"),
    "run.usage_updated": ("Σ", "soft"),
    "run.output_appended": ("≡", "soft"),
    "worker.registered": ("⌂", "good"),
    "worker.offline": ("⌂", "bad"),
    "worker.instance_suspect": ("!", "waiting"),
    "work_item.created": ("+", "accent"),
    "work_item.deleted": ("−", "bad"),
    "project.created": ("+", "accent"),
}
_FAMILIES: Final = (
    ("run.prompt_ref", ("✉", "bad")),
    ("run.prompt_unc", ("✉", "waiting")),
    ("run.prompt", ("✉", "accent")),
    ("run.keys_ref", ("⌨", "bad")),
    ("run.keys_unc", ("⌨", "waiting")),
    ("run.keys", ("⌨", "accent")),
    ("run.lease", ("▸", "person")),
    ("run.", ("·", "soft")),
    ("work_item.", ("▪", "kind")),
    ("project.", ("◇", "kind")),
    ("host.", ("⌂", "soft")),
    ("worker.", ("⌂", "soft")),
)
_ACTIVITIES: Final = {"waiting": ("⚑", "waiting"), "working": ("●", "working"), "idle": ("○", "idle")}


class Link(NamedTuple):
    """What an event leads to."""

    noun: Literal["run", "item", "project", "host"]
    id: str
    """Its id; of a host, its name."""


def mark(event: Event) -> tuple[str, str]:
    """A glyph, and the tone it has: what a state's own chip shows where the event is about one."""
    if event.topic == "run.signal_received":
        return _signal(event.payload)
    if event.topic == "run.finished":
        return ("✓", "good") if event.payload.get("exit_code") == 0 else ("✗", "bad")
    if event.topic == "work_item.status_changed" and event.payload.get("to") == "done":
        return "✓", "good"
    known = _MARKS.get(event.topic)
    return known or next((its for family, its in _FAMILIES if event.topic.startswith(family)), ("·", "soft"))


def about(event: Event, names: Mapping[str, str]) -> str:
    """Whom it happened to: the item's title, the project's slug, the host's name; else a session or a short id."""
    facts = event.payload
    for key in ("task_id", "item_id"):
        if name := names.get(str(facts.get(key))):
            return one_line(name)
    if event.topic.startswith("project.") and (name := names.get(str(facts.get("project_id")))):
        return one_line(name)
    for key in ("title", "slug", "host", "session_name"):
        if facts.get(key):
            return one_line(str(facts[key]))
    return next(
        (one_line(str(facts[key])[:8]) for key in ("item_id", "task_id", "run_id") if facts.get(key)), "all hosts"
    )


def link(event: Event) -> Link | None:
    """Where Enter leads; None where there is nothing to see."""
    facts = event.payload
    nouns: tuple[tuple[str, Literal["run", "item", "project", "host"]], ...] = (
        *(("run_id", "run"), ("item_id", "item"), ("task_id", "item"), ("project_id", "project"), ("host", "host")),
    )
    if event.topic == "work_item.deleted":
        nouns = (("project_id", "project"),)
    return next((Link(noun, str(facts[key])) for key, noun in nouns if isinstance(facts.get(key), str)), None)


def _signal(facts: Mapping[str, object]) -> tuple[str, str]:
    said = facts.get("said")
    if facts.get("kind") == "failed":
        return "✗", "bad"
    if facts.get("kind") == "completed":
        return "✓", "good"
    activity = said.get("activity") if isinstance(said, Mapping) else None
    return _ACTIVITIES.get(str(activity), ("·", "soft"))

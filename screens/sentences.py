"""Events of the journal as sentences: what happened, in a few words; whom it happened to stands beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from screens.confine import one_line
from screens.facts import Facts, colon, counted, listed, word
from screens.run_sentences import RUNS
from store.records import Event

_REST: Final[Mapping[str, Callable[[Facts], str]]] = {
    "project.created": lambda facts: f"project made{colon(facts, 'name')}",
    "project.updated": lambda facts: (
        "project taken out of the archive" if facts.get("status") else _changed("project", facts)
    ),
    "project.archived": lambda _: "project archived",
    "work_item.created": lambda facts: f"{word(facts, 'kind', 'item')} made",
    "work_item.updated": lambda facts: (
        "put in another place" if facts.get("fields") == ["sort_order"] else _changed("", facts)
    ),
    "work_item.status_changed": lambda facts: f"moved from {word(facts, 'from', '?')} to {word(facts, 'to', '?')}",
    "work_item.reparented": lambda facts: "moved below another item" if facts.get("to") else "moved to the top level",
    "work_item.deleted": lambda facts: f"deleted{_with_others(facts)}",
    "host.added": lambda facts: f"host added, reached by {word(facts, 'transport', 'some way')}",
    "host.disabled": lambda _: "takes no new runs; those it has go on",
    "host.enabled": lambda facts: f"takes runs again; it is {word(facts, 'status', 'known')}",
    "host.suspect_cleared": lambda _: "trusted again: this instance is the right one",
    "host.reconcile_requested": lambda _: "asked to compare its runs with what lives",
    "host.reconciled": lambda facts: _reconciled(facts),
    "worker.registered": lambda _: "host is here",
    "worker.offline": lambda _: "host does not answer any more",
    "worker.instance_reinstalled": lambda _: "host came back as a new instance",
    "worker.instance_suspect": lambda _: "another instance answers under this name; no new runs until it is cleared",
}
_ALL: Final[Mapping[str, Callable[[Facts], str]]] = {**RUNS, **_REST}
TOPICS: Final = frozenset(_ALL)
"""Every topic that has a sentence of its own."""


def sentence(event: Event) -> str:
    """What happened; a topic that is not known here is told by its name."""
    tell = _ALL.get(event.topic)
    return tell(event.payload) if tell else one_line(event.topic.partition(".")[2].replace("_", " "))


def _changed(noun: str, facts: Facts) -> str:
    fields = listed(facts, "fields").replace("cwd", "directory")
    return f"{noun} {fields or 'something'} changed".strip()


def _with_others(facts: Facts) -> str:
    ids = facts.get("ids")
    below = len(ids) - 1 if isinstance(ids, list) else 0
    return f", with {below} item{'' if below == 1 else 's'} below it" if below > 0 else ""


def _reconciled(facts: Facts) -> str:
    plan = facts.get("plan")
    done = [step for step in plan if isinstance(step, Mapping) and step.get("done")] if isinstance(plan, list) else []
    what = "compared with what lives"
    return f"{what}: {counted({'done': done}, 'done', 'thing')} put right" if done else f"{what}: all as it should be"

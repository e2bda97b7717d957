"""The activity place's part of the fake model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeVar

from screens.activity_filter import lets
from screens.model import HeaderFacts
from store.errors import PamError
from store.history import Page, Wanted
from store.journal import COUNTED
from store.records import Event
from tests.screens.fakes.core import NOW, FakeCore, uid


@dataclass
class FakeActivity(FakeCore):
    """Implements ``screens.model.activity.ActivityModel``. ``look`` is how many events one page looks at, at most."""

    look: int = 50_000
    seen: int | None = None
    """None leaves ``unread`` as ``facts`` says."""
    unreadable: PamError | None = None
    """Why the journal cannot be read."""

    async def older_events(self, before: int | None, wanted: Wanted, limit: int) -> Page:
        self.reads.append(("older_events", before, wanted))
        if self.unreadable is not None:
            raise self.unreadable
        top = len(self.events) + 1 if before is None else before
        floor = max(top - self.look, 1)
        found = [each for each in self.events[floor - 1 : top - 1] if self._matches(each, wanted)][::-1][:limit]
        reached = found[-1].seq if len(found) == limit else floor
        return Page(found, reached, reached > 1, self._names(found))

    async def newer_events(self, after: int, wanted: Wanted, limit: int) -> Page:
        self.reads.append(("newer_events", after, wanted))
        ceiling = min(after + self.look, len(self.events))
        found = [each for each in self.events[after:ceiling] if self._matches(each, wanted)][:limit]
        reached = found[-1].seq if len(found) == limit else ceiling
        return Page(found[::-1], reached, reached < len(self.events), self._names(found))

    async def journal_ends(self) -> tuple[int, int]:
        return (1 if self.events else 0), len(self.events)

    async def saw_events(self, seq: int) -> None:
        self.seen = max(self.seen or 0, seq)

    async def header(self) -> HeaderFacts:
        facts = await super().header()
        return facts if self.seen is None else replace(facts, unread=len(self.events) - self.seen)

    def _matches(self, event: Event, wanted: Wanted) -> bool:
        said = f"{event.payload} {' '.join(self._names([event]).values())}".lower()
        let = lets(wanted, event.topic, event.actor, event.topic in COUNTED)
        return let and all(word.lower() in said for word in wanted.words)

    def _names(self, events: Sequence[Event]) -> dict[str, str]:
        ids = {str(event.payload.get(key)) for event in events for key in ("task_id", "item_id")}
        titles = {each: self.items[each].title for each in ids if each in self.items}
        return titles | {each.id: each.slug for each in self.the_projects}


M = TypeVar("M", bound=FakeActivity)


def eventful(model: M) -> M:
    """A morning in which everything has happened once."""
    made, run = model.items, model.runs
    about = {each.id: {"run_id": each.id, "task_id": each.task_id, "attempt": each.attempt, "provider": each.provider,
                       "session_name": each.session_name} for each in run.values()}  # fmt: skip
    claude, codex, lost, done = (about[uid(number)] for number in (201, 202, 211, 207))
    item_id = next(iter(made))
    project_id = model.the_projects[0].id
    past: list[tuple[float, str, str, dict[str, object]]] = [
        (9000, "operator", "project.created", {"project_id": project_id, "name": "checkout-service"}),
        (3000, "operator", "host.added", {"host": "gpu-1", "transport": "ssh"}),
        (2990, "executor", "worker.registered", {"host": "gpu-1", "instance_id": "i-1"}),
        (1500, "operator", "work_item.created", {"item_id": item_id, "kind": "task", "title": "Add rate limiting"}),
        (300, "executor", "run.finished", {**done, "exit_code": 0, "status": "exited"}),
        (299, "executor", "run.output_appended", {**done, "bytes": 48_120, "lines": 912, "rotated": False}),
        (120, "executor", "run.silent", {**about[uid(205)], "level": "idle", "silent_s": 605}),
        (61, "executor", "worker.offline", {"host": "mini"}),
        (31, "executor", "run.failed", {**lost, "failure_reason": "session_lost", "detail": "tmux server is gone",
                                        "retry_at": "soon"}),
        (30, "operator", "run.restart_called_off", lost),
        (22, "operator", "run.lease_acquired", {**claude, "holder": "mara@desk"}),
        (21, "operator", "run.prompt_queued", {**codex, "first_line": "Drop the shims, keep the tests green"}),
        (21, "executor", "run.prompt_delivered", codex),
        (20, "hook:codex", "run.prompt_confirmed", codex),
        (18, "operator", "work_item.status_changed", {"item_id": item_id, "from": "doing", "to": "todo"}),
        (14, "hook:claude", "run.signal_received", {**claude, "kind": "progress", "said": {"activity": "working"}}),
        (12, "hook:claude", "run.signal_received",
         {**claude, "kind": "progress", "said": {"activity": "waiting", "note": "May I run `pytest -x tests/auth`?"}}),
        (3, "executor", "run.orphan_detected", {"host": "gpu-1", "session_name": "pam-0badf00d"}),
        (0.4, "operator", "host.reconcile_requested", {"host": None}),
        (0.3, "executor", "host.reconciled", {"host": "local", "plan": [{"done": True}], "kept": 4}),
    ]  # fmt: skip
    model.events[:] = [
        Event(seq + 1, topic, actor, facts, NOW - timedelta(minutes=minutes))
        for seq, (minutes, actor, topic, facts) in enumerate(past)
    ]
    return model

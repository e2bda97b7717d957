"""The journal of one run as a state machine: what each event may follow, and how each attempt ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from store.records import Event

FOLLOWS: dict[str, tuple[str, ...]] = {
    "run.created": ("",),
    "run.spawning": ("pending",),
    "run.started": ("spawning",),
    "run.stop_requested": ("spawning", "running"),
    "run.stopped": ("pending", "spawning", "running", "stopped"),
    "run.requeued": ("failed",),
}
"""Statuses a run may have when the topic is journaled; finished and failed depend on more."""

TO = {"run.created": "pending", "run.spawning": "spawning", "run.started": "running", "run.requeued": "pending"}


@dataclass
class Line:
    """What the journal says about one run."""

    status: str = ""
    attempt: int = 0
    endings: dict[int, list[str]] = field(default_factory=dict)
    """How each attempt ended: ``exit:CODE``, ``stopped`` or a failure reason."""
    stopped: set[int] = field(default_factory=set)
    """Attempts whose stop was carried out and verified."""
    faults: list[str] = field(default_factory=list)

    def take(self, event: Event) -> None:
        """Go on by one event."""
        topic, payload = event.topic, event.payload
        attempt = int(str(payload["attempt"]))
        self._count(event, attempt)
        before = self.status
        if topic in FOLLOWS and before not in FOLLOWS[topic]:
            self._wrong(event, f"after {before or 'nothing'}")
        if topic in TO:
            self.status = TO[topic]
        elif topic == "run.stopped":
            if attempt in self.stopped:
                self._wrong(event, "twice")
            self.stopped.add(attempt)
            self._end("stopped", attempt, "stopped")
        elif topic == "run.finished":
            self._finished(event, attempt)
        elif topic == "run.failed":
            if before not in ("pending", "spawning", "running"):
                self._wrong(event, f"after {before}")
            self._end("failed", attempt, str(payload["failure_reason"]))

    def _count(self, event: Event, attempt: int) -> None:
        due = self.attempt + 1 if event.topic in ("run.created", "run.requeued") else self.attempt
        if attempt != due:
            self._wrong(event, f"attempt {attempt} where {due} is")
        self.attempt = max(self.attempt, attempt)

    def _finished(self, event: Event, attempt: int) -> None:
        status = str(event.payload["status"])
        if self.status == "stopped" and status == "stopped":
            return
        if self.status not in ("spawning", "running"):
            self._wrong(event, f"after {self.status}")
        reason = event.payload.get("failure_reason") or f"exit:{event.payload['exit_code']}"
        self._end(status, attempt, "stopped" if status == "stopped" else str(reason))

    def _end(self, status: str, attempt: int, ending: str) -> None:
        self.status = status
        known = self.endings.setdefault(attempt, [])
        if ending not in known:
            known.append(ending)

    def _wrong(self, event: Event, why: str) -> None:
        self.faults.append(f"seq {event.seq} {event.topic} (attempt {event.payload.get('attempt')}): {why}")


def lines(events: Iterable[Event]) -> dict[str, Line]:
    """The story of every run in the journal."""
    found: dict[str, Line] = {}
    for event in events:
        if event.topic.startswith("run.") and event.payload.get("run_id"):  # an orphan's event names none
            found.setdefault(str(event.payload["run_id"]), Line()).take(event)
    return found

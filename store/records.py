"""What the store hands out: frozen records, never rows, so that no caller can write past a verb.

Ids are UUID4 strings. Times are timezone-aware UTC datetimes. A record is a fact of the moment it was read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

ProjectStatus = Literal["active", "archived"]
Kind = Literal["milestone", "epic", "task", "subtask"]
ItemStatus = Literal["todo", "doing", "done", "cancelled"]
RunStatus = Literal["pending", "spawning", "running", "exited", "failed", "stopped"]
Platform = Literal["macos", "linux"]
Transport = Literal["local", "ssh", "command"]
HostStatus = Literal["registered", "online", "offline", "disabled"]
Activity = Literal["working", "waiting", "idle", "unknown"]
RestartPolicy = Literal["never", "infrastructure", "on-failure", "always"]
FailureReason = Literal[
    "host_lost",
    "session_lost",
    "spawn_failed",
    "restart_exhausted",
    "dispatch_timeout",
    "no_eligible_host",
]
DeliveryKind = Literal["prompt", "keys"]
DeliveryStatus = Literal["queued", "delivering", "typed", "confirmed", "unconfirmed", "refused"]
SignalKind = Literal["started", "finished", "completed", "failed", "progress"]

PLATFORMS: tuple[Platform, ...] = ("macos", "linux")
TRANSPORTS: tuple[Transport, ...] = ("local", "ssh", "command")
PROJECT_STATUSES: tuple[ProjectStatus, ...] = ("active", "archived")
KINDS: tuple[Kind, ...] = ("milestone", "epic", "task", "subtask")
ITEM_STATUSES: tuple[ItemStatus, ...] = ("todo", "doing", "done", "cancelled")
RUN_STATUSES: tuple[RunStatus, ...] = ("pending", "spawning", "running", "exited", "failed", "stopped")
LIVE_RUN_STATUSES: tuple[RunStatus, ...] = ("pending", "spawning", "running")
HOST_STATUSES: tuple[HostStatus, ...] = ("registered", "online", "offline", "disabled")
ACTIVITIES: tuple[Activity, ...] = ("working", "waiting", "idle", "unknown")
RESTART_POLICIES: tuple[RestartPolicy, ...] = ("never", "infrastructure", "on-failure", "always")
FAILURE_REASONS: tuple[FailureReason, ...] = (
    "host_lost",
    "session_lost",
    "spawn_failed",
    "restart_exhausted",
    "dispatch_timeout",
    "no_eligible_host",
)
DELIVERY_KINDS: tuple[DeliveryKind, ...] = ("prompt", "keys")
DELIVERY_STATUSES: tuple[DeliveryStatus, ...] = (
    "queued",
    "delivering",
    "typed",
    "confirmed",
    "unconfirmed",
    "refused",
)


@dataclass(frozen=True, slots=True)
class Project:
    """A body of work with a slug and, usually, a working directory."""

    id: str
    name: str
    slug: str
    description: str
    status: ProjectStatus
    cwd: str | None
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Item:
    """A card: milestone, epic, task or subtask."""

    id: str
    project_id: str
    parent_id: str | None
    kind: Kind
    title: str
    description: str
    status: ItemStatus
    assignee: str | None
    path: str
    """Short ids from the root down, ``/`` between them (PAM-PATH-001); a look-up aid, never an identity."""
    sort_order: int
    labels: tuple[str, ...]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Run:
    """One agent CLI in one tmux session for one task or subtask."""

    id: str
    task_id: str
    host_id: str | None
    """None while pending (PAM-DATA-033)."""
    host: str | None
    """Name of the host, beside its id, for reading."""
    pinned_host_id: str | None
    provider: str
    session_name: str
    status: RunStatus
    attempt: int
    max_attempts: int
    restart_policy: RestartPolicy
    last_progress_seq: int | None
    failure_reason: FailureReason | None
    last_failure_reason: FailureReason | None
    pending_since: datetime
    cwd: str
    prompt: str | None
    model: str | None
    args: tuple[str, ...]
    conversation_id: str | None
    exit_code: int | None
    """0–255, or minus the signal's number when a signal ended the agent."""
    stop_requested_at: datetime | None
    retry_at: datetime | None
    activity: Activity
    activity_source: str | None
    activity_at: datetime | None
    activity_note: str | None
    """What the agent asks or says it does; one line."""
    pane_id: str | None
    wrapper_pid: int | None
    wrapper_started: int | None
    """Start time of the wrapper as the host's kernel counts it (clock ticks since boot on Linux)."""
    started_at: datetime | None
    finished_at: datetime | None
    created_at: datetime
    updated_at: datetime
    agent_pid: int | None = None
    """The agent itself, as its wrapper reported it."""
    agent_started: int | None = None
    """Its start time, counted like the wrapper's."""
    approvals: str | None = None
    """How much the agent may do unasked, by its provider's name for it; None for the CLI's own default."""
    resumed_from: str | None = None
    """The run whose conversation this one goes on with."""
    transcript: str | None = None
    """The file on the host in which the CLI writes this attempt's conversation."""

    @property
    def live(self) -> bool:
        """Whether an agent lives or is about to."""
        return self.status in LIVE_RUN_STATUSES


@dataclass(frozen=True, slots=True)
class Usage:
    """What a conversation, or several together, has used so far as the CLIs count it; None is unknown, never zero."""

    input_tokens: int | None = None
    """Without what came from a cache."""
    output_tokens: int | None = None
    """With what the model thought."""
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None
    context_tokens: int | None = None
    """How full the context is after the last turn."""
    context_limit: int | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Host:
    """A machine that runs sessions: ``local``, or one reached by ssh."""

    id: str
    name: str
    platform: Platform
    transport: Transport
    ssh_target: str | None
    work_root: str | None
    token_fingerprint: str | None
    status: HostStatus
    instance_id: str | None
    instance_suspect: bool
    instance_flagged_at: datetime | None
    last_seen_at: datetime | None
    active_runs: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Event:
    """A line in the journal."""

    seq: int
    topic: str
    actor: str
    payload: Mapping[str, object]
    at: datetime


@dataclass(frozen=True, slots=True)
class Signal:
    """What a wrapper, a hook or the operator says about a run (PAM-SIG-001), as it stands in a spool."""

    run_id: str
    attempt: int | None
    kind: str
    source: str
    """``wrapper``, ``hook:<provider>``, ``agent`` or ``manual``."""
    at: datetime | None = None
    seq: int | None = None
    payload: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Applied:
    """What ingest did with a signal."""

    applied: bool
    reason: str
    """``applied``, ``duplicate``, ``stale_attempt``, ``out_of_order`` or ``after_end``."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to type into a run; one writer at a time (PAM-ATT-001)."""

    run_id: str
    holder: str
    acquired_at: datetime
    heartbeat_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Delivery:
    """A prompt or keys to be typed into a run, and what became of that."""

    id: int
    """Grows; deliveries of a run are carried out in its order."""
    run_id: str
    attempt: int
    """The attempt it is meant for, and no other."""
    kind: DeliveryKind
    status: DeliveryStatus
    opening: bool
    """Whether it is the first prompt of its attempt, which goes before all others."""
    text: str
    """The prompt, or text typed letter by letter before the keys."""
    keys: tuple[str, ...]
    reason: str | None
    """Why it was refused, or what cannot be told."""
    awaited: bool
    """Whether the agent's word that it took the prompt up was to come after it was typed."""
    actor: str
    """Who asked for it."""
    created_at: datetime
    typed_at: datetime | None
    settled_at: datetime | None

    @property
    def over(self) -> bool:
        """Whether nothing more will become of it."""
        return self.status not in ("queued", "delivering") and not (self.status == "typed" and self.awaited)

    @property
    def delivered(self) -> bool | None:
        """Whether it reached the agent; None while, or when, nobody can tell."""
        arrived = self.status == "confirmed" or (self.status == "typed" and not self.awaited)
        return True if arrived else False if self.status == "refused" else None

"""Verbs on runs that the operator and the executor call; what agents say comes in through ``signals``.

Every change is a guarded ``UPDATE`` whose row count is read, so that two callers can never both win (PAM-RUN-017).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from peewee import fn

from store import hosts, items, projects, restarts, text
from store.database import Store
from store.errors import Conflict, IllegalTransition, InvalidValue, NotFound
from store.ids import draw, resolve
from store.lifecycle import RUN_EDGES, check_run
from store.models import HostRow, ItemRow, RunRow, values
from store.records import LIVE_RUN_STATUSES, FailureReason, Host, RestartPolicy, Run, RunStatus
from store.restart_rules import WAITED_IN_VAIN
from store.run_rows import ask_to_stop, end, joined, journal, once, record, row_of, session_name

RESTART_POLICY: RestartPolicy = "infrastructure"
MAX_ATTEMPTS = 3


def start(
    store: Store,
    task_id: str,
    provider: str,
    cwd: str,
    *,
    prompt: str | None = None,
    model: str | None = None,
    args: Iterable[str] = (),
    pinned_host_id: str | None = None,
    restart_policy: RestartPolicy = RESTART_POLICY,
    max_attempts: int = MAX_ATTEMPTS,
    conversation_id: str | None = None,
    resumed_from: str | None = None,
    approvals: str | None = None,
    actor: str,
) -> Run:
    """Create a pending run and return at once; the executor makes it happen (PAM-RUN-014).

    ``cwd`` is absolute, on the host that will run it. Raises NotFound, InvalidValue for an item that cannot have
    runs (PAM-DATA-034), or ArchivedProject.
    """
    words = list(args)
    _check_words(cwd, words)
    if max_attempts < 1:
        raise InvalidValue("A run needs at least one attempt.", field="max_attempts")
    with store.write(actor) as tx:
        item = items.row_of(task_id)
        _check_runnable(item)
        if resumed_from is not None:
            _check_resumable(resumed_from, conversation_id)
        if pinned_host_id is not None and not HostRow.select().where(HostRow.id == pinned_host_id).exists():
            raise NotFound(f"There is no host {pinned_host_id!r} to pin the run to.", id=pinned_host_id)
        id_ = draw(tx.new_id, RunRow.id)
        RunRow.insert(
            id=id_,
            task=task_id,
            pinned_host=pinned_host_id,
            provider=text.one_line(provider, "provider", limit=50),
            session_name=session_name(id_),
            max_attempts=max_attempts,
            restart_policy=restart_policy,
            pending_since=tx.now,
            cwd=cwd,
            prompt=text.paragraphs(prompt) if prompt is not None else None,
            model=text.optional_line(model, "model", limit=100),
            args=words,
            conversation_id=conversation_id,
            resumed_from=resumed_from,
            approvals=text.optional_line(approvals, "approvals", limit=50),
            created_at=tx.now,
            updated_at=tx.now,
        ).execute()
        row = row_of(id_)
        resumes = {"resumed_from": resumed_from} if resumed_from else {}
        journal(tx, row, "run.created", pinned_host_id=pinned_host_id, **resumes)
        return record(row)


def resume(store: Store, run_id: str, *, prompt: str | None = None, actor: str) -> Run:
    """A pending run that goes on with the conversation of one that ended, on its host and with its ways.

    Raises NotFound, or Conflict when no conversation of it is known, or an agent is in it.
    """
    old = get(store, run_id)
    return start(
        store,
        old.task_id,
        old.provider,
        old.cwd,
        prompt=prompt,
        model=old.model,
        args=old.args,
        pinned_host_id=old.host_id or old.pinned_host_id,
        restart_policy=old.restart_policy,
        max_attempts=old.max_attempts,
        conversation_id=old.conversation_id,
        approvals=old.approvals,
        resumed_from=old.id,
        actor=actor,
    )


def claim(store: Store, run_id: str, host: Host, *, actor: str) -> Run | None:
    """Take a pending run for a host: pending → spawning.

    None when another caller was faster, when it was stopped, or when the host may not have it: another one is pinned,
    or this one is not online any more or suspect (PAM-RUN-006, 011, 019).
    """
    with store.write(actor) as tx:
        may_take = HostRow.select().where(HostRow.id == host.id, hosts.ELIGIBLE)
        taken = (
            RunRow.update(status="spawning", host=host.id, updated_at=tx.now)
            .where(
                RunRow.id == run_id,
                RunRow.status == "pending",
                RunRow.stop_requested_at.is_null(),
                RunRow.pinned_host.is_null() | (RunRow.pinned_host == host.id),
                fn.EXISTS(may_take),
            )
            .execute()
        )
        if not taken:
            return None
        row = row_of(run_id)
        journal(tx, row, "run.spawning", host_id=host.id, host=host.name)
        return record(row)


def set_pane(
    store: Store, run_id: str, attempt: int, pane_id: str, *, conversation_id: str | None = None, actor: str
) -> None:
    """Remember the tmux pane of an attempt, and the name its conversation was given; nothing when it is over."""
    named = {"conversation_id": conversation_id} if conversation_id else {}
    with store.write(actor):
        RunRow.update(pane_id=pane_id, **named).where(RunRow.id == run_id, RunRow.attempt == attempt).execute()


def set_transcript(store: Store, run_id: str, attempt: int, path: str, *, actor: str) -> None:
    """Remember where the CLI of an attempt writes its conversation; nothing when the attempt is over."""
    with store.write(actor):
        RunRow.update(transcript=path).where(RunRow.id == run_id, RunRow.attempt == attempt).execute()


def note(store: Store, run_id: str, attempt: int, topic: str, facts: Mapping[str, object], *, actor: str) -> None:
    """Journal something about an attempt that changes no row; nothing when the attempt is over."""
    with store.write(actor) as tx:
        row = row_of(run_id)
        if row.attempt == attempt:
            journal(tx, row, topic, **facts)


def fail(
    store: Store,
    run_id: str,
    attempt: int,
    reason: FailureReason,
    *,
    detail: str = "",
    hold: bool = False,
    actor: str,
) -> Run | None:
    """End an attempt that no wrapper exit explains (PAM-EVT-013). None when that attempt is over already.

    The run is restarted as its policy says, unless ``hold``: then only the operator restarts it (``restarts.fail``).
    Raises IllegalTransition for a pending run and a reason other than the two of a wait in vain (PAM-RUN-004).
    """
    with store.write(actor) as tx:
        row = row_of(run_id)
        if row.attempt != attempt or "failed" not in RUN_EDGES[row.status]:
            return None
        if row.status == "pending" and reason not in WAITED_IN_VAIN:
            raise IllegalTransition(
                f"A pending run has no host yet, so it cannot fail with {reason}; only {' or '.join(WAITED_IN_VAIN)}.",
                **{"from": "pending", "to": "failed", "legal": list(RUN_EDGES["pending"]), "reason": reason},
            )
        restarts.fail(tx, row, "run.failed", reason=reason, hold=hold, facts={"detail": text.paragraphs(detail)[:1000]})
        return record(row_of(run_id))


def request_stop(store: Store, run_id: str, *, actor: str) -> Run:
    """Ask for a stop. A pending run stops at once; a live one keeps the request until the executor carried it out.

    The request outlives a crash of the executor (rulings X-47, X-56). A failed run that would be restarted is not any
    more (FR-28). Raises IllegalTransition for any other run that ended.
    """
    with store.write(actor) as tx:
        row = row_of(run_id)
        if row.status == "failed" and row.retry_at is not None:
            restarts.call_off(tx, row)
            return record(row_of(run_id))
        check_run(row.status, "stopped")
        if row.status == "pending":
            once(tx, row, "stopped")
            end(tx, row, "stopped")
            journal(tx, row, "run.stopped")
        else:
            ask_to_stop(tx, row)
        return record(row_of(run_id))


def stopped(
    store: Store, run_id: str, attempt: int, *, facts: Mapping[str, object] | None = None, actor: str
) -> Run | None:
    """The executor has carried the stop out and verified it; journaled once an attempt. None when it was before.

    The status may already be ``stopped``: the wrapper's own report of the end can come first.
    """
    with store.write(actor) as tx:
        row = row_of(run_id)
        if row.attempt != attempt or row.stop_requested_at is None or not once(tx, row, "stopped"):
            return None
        if "stopped" in RUN_EDGES[row.status]:
            end(tx, row, "stopped")
        journal(tx, row, "run.stopped", **(facts or {}))
        return record(row_of(run_id))


def requeue(store: Store, run_id: str, *, actor: str) -> Run:
    """failed → pending with the next attempt and a fresh window (PAM-RUN-010), whether or not a restart was due.

    The operator may do so beyond ``max_attempts``, for one attempt more. Raises IllegalTransition, Conflict.
    """
    with store.write(actor) as tx:
        row = row_of(run_id)
        check_run(row.status, "pending")
        if row.attempt >= row.max_attempts and actor == "executor":
            raise Conflict(f"All {row.max_attempts} attempts of this run are used.", attempt=row.attempt)
        restarts.requeue(tx, row)
        return record(row_of(run_id))


def expire_pending(store: Store, timeout_s: float, *, actor: str) -> list[Run]:
    """Fail runs that waited longer than ``timeout_s`` for a host (PAM-RUN-004, 005).

    ``dispatch_timeout`` when an eligible host was seen since the run began to wait, ``no_eligible_host`` otherwise.
    """
    with store.read():
        if not RunRow.select().where(RunRow.status == "pending").exists():
            return []
    with store.write(actor) as tx:
        late = RunRow.select().where(
            RunRow.status == "pending", RunRow.pending_since < tx.now - timedelta(seconds=timeout_s)
        )
        expired = []
        for row in list(late):
            reason: FailureReason = "dispatch_timeout" if _host_was_there(row) else "no_eligible_host"
            restarts.fail(tx, row, "run.failed", reason=reason, facts={})
            expired.append(record(row_of(row.id)))
        return expired


def get(store: Store, run_id: str) -> Run:
    """The run with this full id. Raises NotFound."""
    with store.read():
        return record(row_of(run_id))


def find(store: Store, wanted: str) -> Run:
    """The run that an id, a prefix of 4 or more digits, or a session name names. Raises NotFound or Ambiguous."""
    with store.read():
        return record(row_of(resolve(RunRow, "run", wanted.removeprefix("pam-"))))


def by_session(store: Store, host_id: str, session: str) -> Run | None:
    """The run that a session on a host belongs to, if any."""
    with store.read():
        row = joined().where(RunRow.host == host_id, RunRow.session_name == session).first()
        return record(row) if row is not None else None


def list_all(
    store: Store,
    *,
    task_id: str | None = None,
    project_id: str | None = None,
    statuses: Sequence[RunStatus] = (),
    host_id: str | None = None,
) -> list[Run]:
    """Runs, newest first; filters narrow."""
    with store.read():
        query = joined().order_by(RunRow.created_at.desc(), RunRow.id)
        if task_id is not None:
            query = query.where(RunRow.task == task_id)
        if project_id is not None:
            query = query.where(RunRow.task.in_(ItemRow.select(ItemRow.id).where(ItemRow.project == project_id)))
        if statuses:
            query = query.where(RunRow.status.in_(statuses))
        if host_id is not None:
            query = query.where(RunRow.host == host_id)
        return [record(row) for row in query]


def live(store: Store, *, project_id: str | None = None) -> list[Run]:
    """Runs whose agent lives or is about to."""
    return list_all(store, project_id=project_id, statuses=LIVE_RUN_STATUSES)


def projects_of_live(store: Store) -> dict[str, str]:
    """The project of each run whose agent lives or is about to, by the run's id."""
    with store.read():
        query = RunRow.select(RunRow.id, ItemRow.project).join(ItemRow).where(RunRow.status.in_(LIVE_RUN_STATUSES))
        return dict(values(query))


def counts(store: Store) -> dict[RunStatus, int]:
    """Number of runs by status; statuses without runs are missing."""
    with store.read():
        query = RunRow.select(RunRow.status, fn.COUNT(RunRow.id)).group_by(RunRow.status)
        return dict(values(query))


def _check_runnable(item: ItemRow) -> None:
    if item.kind not in items.RUNNABLE:
        raise InvalidValue(
            f"A run works on a task or a subtask; this is a{'n' if item.kind == 'epic' else ''} {item.kind}. "
            "Add a task below it.",
            kind=item.kind,
        )
    projects.check_active(item.project_id, "starting a run")


def _check_resumable(run_id: str, conversation_id: str | None) -> None:
    """Inside a transaction: nobody is in the conversation, and nobody will be."""
    old = row_of(run_id)
    short = old.id[:8]
    if old.status in LIVE_RUN_STATUSES:
        raise Conflict(f"{old.session_name} is {old.status}; tell its agent more with `pam run send {short}`.")
    if old.retry_at is not None:
        raise Conflict(f"{old.session_name} is about to be restarted; `pam run stop {short}` calls that off.")
    if conversation_id is None:
        raise Conflict(
            f"No conversation of {old.session_name} is known, so nothing can go on with it. Start anew: "
            f"`pam run start --task {old.task_id[:8]} --provider {old.provider}`.",
            run_id=old.id,
        )
    other = RunRow.get_or_none(RunRow.conversation_id == conversation_id, RunRow.status.in_(LIVE_RUN_STATUSES))
    if other is not None:
        raise Conflict(
            f"{other.session_name} is in this conversation already; `pam run send {other.id[:8]}` tells it more.",
            run_id=other.id,
        )


def _check_words(cwd: str, args: Sequence[str]) -> None:
    if not cwd.startswith("/"):
        raise InvalidValue(f"The working directory {cwd!r} is not absolute. Give it from / on.", field="cwd")
    if "\0" in cwd or any("\0" in word for word in args):
        raise InvalidValue("A NUL character cannot be part of a command line or a path.", field="args")


def _host_was_there(row: RunRow) -> bool:
    """Whether a host that may take the run counted as online at some moment of its wait."""
    since: datetime = row.pending_since
    seen = HostRow.select().where(
        HostRow.last_seen_at >= since - timedelta(seconds=hosts.OFFLINE_AFTER_S),
        HostRow.status != "disabled",
        HostRow.instance_suspect == False,  # noqa: E712
    )
    if row.pinned_host_id is not None:
        seen = seen.where(HostRow.id == row.pinned_host_id)
    return seen.exists()

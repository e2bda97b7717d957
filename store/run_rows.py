"""Run rows inside a transaction: reading, ending, journaling; shared by the verbs and the ingest edge."""

from __future__ import annotations

from peewee import JOIN, ModelSelect

from store.errors import NotFound
from store.ids import short
from store.lifecycle import check_run
from store.models import HostRow, ProcessedSignalRow, RunRow
from store.records import Run, RunStatus
from store.transaction import Transaction


def row_of(run_id: str) -> RunRow:
    """Inside a transaction: the row with its host. Raises NotFound."""
    row: RunRow | None = joined().where(RunRow.id == run_id).first()
    if row is None:
        raise NotFound(f"There is no run {run_id!r}.", id=run_id)
    return row


def joined() -> ModelSelect[RunRow]:
    """Inside a transaction: runs with their hosts, as ``record`` needs them."""
    return RunRow.select(RunRow, HostRow).join(HostRow, JOIN.LEFT_OUTER, on=(RunRow.host == HostRow.id))


def check_edge(row: RunRow, status: RunStatus) -> None:
    """Inside a transaction: raise IllegalTransition when the run may not go there."""
    check_run(row.status, status)


def once(tx: Transaction, row: RunRow, kind: str) -> bool:
    """Inside a transaction: whether a one-shot of this kind happens to the attempt for the first time (PAM-SIG-004)."""
    return bool(
        ProcessedSignalRow.insert(run=row.id, attempt=row.attempt, kind=kind, received_at=tx.now)
        .on_conflict_ignore()
        .as_rowcount()
        .execute()
    )


def end(tx: Transaction, row: RunRow, status: RunStatus, **columns: object) -> None:
    """Inside a transaction: move a run to a terminal status along a legal edge."""
    check_run(row.status, status)
    ended = {"finished_at": tx.now, "activity": "unknown", "activity_source": None, "activity_note": None, **columns}
    if row.status == "pending":
        ended.pop("finished_at")
    RunRow.update(status=status, updated_at=tx.now, **ended).where(RunRow.id == row.id).execute()


def ask_to_stop(tx: Transaction, row: RunRow, **facts: object) -> None:
    """Inside a transaction: leave the wish that this live run stops, once; ``facts`` say why (rulings X-56)."""
    if row.stop_requested_at is None:
        RunRow.update(stop_requested_at=tx.now, updated_at=tx.now).where(RunRow.id == row.id).execute()
        journal(tx, row, "run.stop_requested", **facts)


def journal(tx: Transaction, row: RunRow, topic: str, **payload: object) -> None:
    """Inside a transaction: a run.* event; always with attempt beside run_id (PAM-EVT-024, 028)."""
    tx.journal(
        topic,
        run_id=row.id,
        attempt=row.attempt,
        task_id=row.task_id,
        provider=row.provider,
        session_name=row.session_name,
        **payload,
    )


def record(row: RunRow) -> Run:
    """The frozen form of a row (read through ``row_of`` or a join with its host)."""
    return Run(
        id=row.id,
        task_id=row.task_id,
        host_id=row.host_id,
        host=row.host.name if row.host is not None else None,
        pinned_host_id=row.pinned_host_id,
        provider=row.provider,
        session_name=row.session_name,
        status=row.status,
        attempt=row.attempt,
        max_attempts=row.max_attempts,
        restart_policy=row.restart_policy,
        last_progress_seq=row.last_progress_seq,
        failure_reason=row.failure_reason,
        last_failure_reason=row.last_failure_reason,
        pending_since=row.pending_since,
        cwd=row.cwd,
        prompt=row.prompt,
        model=row.model,
        args=tuple(row.args),
        conversation_id=row.conversation_id,
        exit_code=row.exit_code,
        stop_requested_at=row.stop_requested_at,
        retry_at=row.retry_at,
        activity=row.activity,
        activity_source=row.activity_source,
        activity_at=row.activity_at,
        activity_note=row.activity_note,
        pane_id=row.pane_id,
        wrapper_pid=row.wrapper_pid,
        wrapper_started=row.wrapper_started,
        started_at=row.started_at,
        finished_at=row.finished_at,
        created_at=row.created_at,
        updated_at=row.updated_at,
        agent_pid=row.agent_pid,
        agent_started=row.agent_started,
        approvals=row.approvals,
        resumed_from=row.resumed_from,
        transcript=row.transcript,
    )


def session_name(run_id: str) -> str:
    """``pam-<first 8 hex digits>`` (PAM-TMUX-002)."""
    return f"pam-{short(run_id)}"


NEW_ATTEMPT: dict[str, str | None] = {
    "failure_reason": None,
    "exit_code": None,
    "started_at": None,
    "finished_at": None,
    "last_progress_seq": None,
    "stop_requested_at": None,
    "retry_at": None,
    "pane_id": None,
    "wrapper_pid": None,
    "wrapper_started": None,
    "agent_pid": None,
    "agent_started": None,
    "transcript": None,
    "activity": "unknown",
    "activity_source": None,
    "activity_at": None,
    "activity_note": None,
}
"""What an attempt leaves behind and the next one must not see."""

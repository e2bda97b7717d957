"""The ingest edge: the only way in for what wrappers, hooks and agents say about a run (PAM-SIG-006).

First the guard (epoch, dedup, order), then the status, then the journal, in one transaction. A signal that the guard
turns away leaves rows and journal as they were. Delivery is at least once; applying is exactly once.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from store import deliveries, moves, redaction, restarts, run_rows, text
from store.database import Store
from store.errors import InvalidAttempt, MissingAttempt, ProtocolError
from store.lifecycle import ITEM_EDGES
from store.models import ItemRow, RunRow
from store.records import ACTIVITIES, Activity, Applied, FailureReason, RunStatus, Signal
from store.transaction import Transaction

ONE_SHOT = ("started", "finished", "completed", "failed")
MAX_SEQ = 2**63 - 1
AT_WORK = ("spawning", "running")
"""Statuses of a run that a host has and that has not ended."""

NAME_MAX = 1000
"""Characters of a name or path that a CLI gave."""

LIFECYCLE = ("started", "finished")
"""What moves a run's status; only its wrapper knows (PAM-SIG-003, rulings X-01)."""

_SOURCE = re.compile(r"wrapper|manual|agent|(?:hook|transcript|pane):[\w.-]{1,50}")
_PANE = re.compile(r"%[0-9]{1,10}")
_HIDE = redaction.Redactor({})


def ingest(store: Store, signal: Signal, *, auto_mark_done: bool = False, actor: str | None = None) -> Applied:
    """Apply one signal, exactly once.

    ``auto_mark_done`` lets a successful ``completed`` set the work item done (PAM-WI-008). Raises NotFound for an
    unknown run, MissingAttempt, InvalidAttempt, or ProtocolError for anything malformed; then nothing is written.
    """
    _check_shape(signal)
    signal = _without_keys(signal)
    with store.write(actor or _actor(signal)) as tx:
        row = run_rows.row_of(signal.run_id)
        refused = _guard(tx, row, signal)
        if refused:
            return Applied(False, refused)
        note = _APPLY[signal.kind](tx, row, signal)
        if auto_mark_done and _succeeded(signal):
            _mark_done(tx, row)
        return Applied(True, note)


def _check_shape(signal: Signal) -> None:
    """The declared types are checked, too: a spool line is whatever some process wrote."""
    if not isinstance(signal.kind, str) or signal.kind not in _APPLY:
        known = ", ".join(_APPLY)
        raise ProtocolError(f"{signal.kind!r} is no kind of signal. The kinds are {known}.", kind=signal.kind)
    _check_source(signal)
    if signal.attempt is None:
        raise MissingAttempt("The signal carries no attempt; every signal must (PAM-SIG-009).", run_id=signal.run_id)
    if isinstance(signal.attempt, bool) or not isinstance(signal.attempt, int) or signal.attempt < 1:
        raise ProtocolError(f"The attempt {signal.attempt!r} is not a positive whole number.")
    if signal.kind == "progress" and not (_is_seq(signal.seq) or _read_in_order(signal)):
        raise ProtocolError("A progress signal needs a seq from 0 to 2^63-1.", seq=signal.seq)
    if not isinstance(signal.payload, Mapping):
        raise ProtocolError("The payload of the signal is not an object.")
    if signal.kind == "finished":
        _exit_code(signal.payload)


def _without_keys(signal: Signal) -> Signal:
    """Agents repeat what they read, keys among it; neither row nor journal may hold one (PAM-SEC-002)."""
    return replace(signal, payload=_HIDE.table(signal.payload))


def _check_source(signal: Signal) -> None:
    if not isinstance(signal.source, str) or not _SOURCE.fullmatch(signal.source):
        raise ProtocolError(
            f"{signal.source!r} is no source of signals: wrapper, hook:PROVIDER, transcript:PROVIDER, agent or manual."
        )
    if signal.kind in LIFECYCLE and signal.source != "wrapper":
        raise ProtocolError(
            f"Only the wrapper says {signal.kind}; this came from {signal.source}.",
            kind=signal.kind,
            source=signal.source,
        )


def _guard(tx: Transaction, row: RunRow, signal: Signal) -> str | None:
    """Why the signal is turned away, or None; the order of the checks is PAM-SIG-007, 008, 004, 005."""
    attempt = signal.attempt or 0
    if attempt < row.attempt:
        return "stale_attempt"
    if attempt > row.attempt:
        raise InvalidAttempt(
            f"The signal is from attempt {attempt}, but the run is at attempt {row.attempt}.",
            signal_attempt=attempt,
            current_attempt=row.attempt,
        )
    if row.status == "pending":
        # Taken for a late word, it would use up the one-shot of the wrapper that is still to come.
        raise ProtocolError(
            f"Attempt {attempt} of this run waits for a host; nobody can speak for it yet.",
            run_id=row.id,
            attempt=attempt,
        )
    if signal.kind in ONE_SHOT:
        return None if run_rows.once(tx, row, signal.kind) else "duplicate"
    if row.status not in AT_WORK:
        return "after_end"
    if _read_in_order(signal):
        return None
    if row.last_progress_seq is not None and (signal.seq or 0) <= row.last_progress_seq:
        return "out_of_order"
    return None


def _started(tx: Transaction, row: RunRow, signal: Signal) -> str:
    if row.status != "spawning":
        # The run was given up, and yet it began: whoever looks for its agent must find it.
        RunRow.update(**_processes(signal.payload)).where(RunRow.id == row.id).execute()
        return _note_only(tx, row, signal)
    _run_began(tx, row, signal.payload)
    return "applied"


def _finished(tx: Transaction, row: RunRow, signal: Signal) -> str:
    exit_code = _exit_code(signal.payload)
    if row.status == "stopped":
        # The executor saw the agent gone before the wrapper's word came in; every exit is journaled (PAM-EVT-012).
        RunRow.update(exit_code=exit_code, updated_at=tx.now).where(RunRow.id == row.id).execute()
        run_rows.journal(tx, row, "run.finished", exit_code=exit_code, status="stopped", source=signal.source)
        return "applied"
    if row.status not in AT_WORK:
        return _note_only(tx, row, signal)
    spawn_error = signal.payload.get("spawn_error")
    if row.status == "spawning" and not spawn_error and row.stop_requested_at is None:
        # The wrapper says both in order, so its `started` was lost with a torn line: it follows from the end.
        _run_began(tx, row, {})
        row = run_rows.row_of(row.id)
    facts: dict[str, object] = {"source": signal.source}
    if spawn_error:
        facts["spawn_error"] = text.paragraphs(str(spawn_error))[:1000]
    if row.stop_requested_at is None and (spawn_error or exit_code != 0):
        reason: FailureReason | None = "spawn_failed" if spawn_error else None
        restarts.fail(tx, row, "run.finished", reason=reason, exit_code=exit_code, facts={"status": "failed", **facts})
        return "applied"
    status: RunStatus = "stopped" if row.stop_requested_at is not None else "exited"
    run_rows.end(tx, row, status, exit_code=exit_code)
    run_rows.journal(tx, row, "run.finished", exit_code=exit_code, status=status, **facts)
    return "applied"


def _completed(tx: Transaction, row: RunRow, signal: Signal) -> str:
    _set_activity(tx, row, signal, "idle", None)
    return _note_only(tx, row, signal)


def _failed(tx: Transaction, row: RunRow, signal: Signal) -> str:
    """A provider's word that its turn failed moves no run (rulings X-03)."""
    _set_activity(tx, row, signal, "idle", signal.payload.get("error"))
    return _note_only(tx, row, signal)


def _progress(tx: Transaction, row: RunRow, signal: Signal) -> str:
    if signal.seq is not None:
        RunRow.update(last_progress_seq=signal.seq, updated_at=tx.now).where(RunRow.id == row.id).execute()
    activity = signal.payload.get("activity")
    if activity in ACTIVITIES:
        note = signal.payload.get("note") or signal.payload.get("message")
        _set_activity(tx, row, signal, activity, note)
    if signal.source.startswith(("hook:", "transcript:")):
        _learn(row, signal.payload)
        if signal.payload.get("accepted"):
            deliveries.taken_up(tx, row.id, row.attempt)
    return _note_only(tx, row, signal)


def _learn(row: RunRow, payload: Mapping[str, object]) -> None:
    """What only the CLI itself knows of its conversation."""
    said = {name: payload.get(name) for name in ("conversation_id", "transcript")}
    learned = {name: value for name, value in said.items() if isinstance(value, str) and _is_name(value)}
    if learned:
        RunRow.update(**learned).where(RunRow.id == row.id).execute()


_APPLY: Mapping[str, Callable[[Transaction, RunRow, Signal], str]] = {
    "started": _started,
    "finished": _finished,
    "completed": _completed,
    "failed": _failed,
    "progress": _progress,
}


def _run_began(tx: Transaction, row: RunRow, payload: Mapping[str, object]) -> None:
    run_rows.check_edge(row, "running")
    RunRow.update(
        status="running", started_at=tx.now, updated_at=tx.now, **_processes(payload), **_pane(payload)
    ).where(RunRow.id == row.id).execute()
    run_rows.journal(tx, row, "run.started", pid=_integer(payload.get("pid")))


def _processes(payload: Mapping[str, object]) -> dict[str, int | None]:
    """Wrapper and agent, each by pid and start time, as columns."""
    said = {"wrapper_pid": "wrapper_pid", "wrapper_started": "wrapper_started"}
    said |= {"agent_pid": "pid", "agent_started": "pid_started"}
    return {column: _integer(payload.get(name)) for column, name in said.items()}


def _pane(payload: Mapping[str, object]) -> dict[str, str]:
    """The pane as tmux named it to the wrapper; an executor that died early has not noted it (``runs.set_pane``)."""
    pane = payload.get("pane")
    return {"pane_id": pane} if isinstance(pane, str) and _PANE.fullmatch(pane) else {}


def _note_only(tx: Transaction, row: RunRow, signal: Signal) -> str:
    """Journal what was said; it moves no status (PAM-EVT-015). A late end lands here, too (PAM-SIG-019)."""
    said = _clean(signal.payload)
    kind = {"kind": signal.kind, "source": signal.source}
    run_rows.journal(tx, row, "run.signal_received", **kind, seq=signal.seq, said=said)
    return "applied"


def _is_name(value: str) -> bool:
    return 0 < len(value) <= NAME_MAX and value.isprintable()


def _set_activity(tx: Transaction, row: RunRow, signal: Signal, activity: Activity | Any, note: object) -> None:
    """A word that repeats the activity without a note leaves the note: a reminder knows less than the question."""
    if row.status not in AT_WORK:
        return
    if note is None and activity == row.activity:
        note = row.activity_note
    RunRow.update(
        activity=activity,
        activity_source=signal.source.partition(":")[0],
        activity_at=tx.now,
        activity_note=" ".join(text.paragraphs(str(note)).split())[:300] if note else None,
        updated_at=tx.now,
    ).where(RunRow.id == row.id).execute()


def _succeeded(signal: Signal) -> bool:
    return signal.kind == "completed" and signal.payload.get("result", "success") == "success"


def _mark_done(tx: Transaction, row: RunRow) -> None:
    item: ItemRow = ItemRow.get_by_id(row.task_id)
    if "done" in ITEM_EDGES[item.status]:
        moves.set_status(tx, item, "done")


def _exit_code(payload: Mapping[str, object]) -> int:
    """0–255, or minus the number of the signal that ended it."""
    code, signal = _integer(payload.get("exit_code")), _integer(payload.get("signal"))
    if signal is not None and 0 < signal < 128:
        return -signal
    if code is not None and 0 <= code <= 255:
        return code
    raise ProtocolError(
        "A finished signal needs an exit_code from 0 to 255, or the number of a signal.", payload=_clean(payload)
    )


def _read_in_order(signal: Signal) -> bool:
    """Whether the executor itself saw it, in a transcript or a pane's state, where nothing comes twice or late."""
    seen = ("transcript:", "pane:")
    return signal.seq is None and isinstance(signal.source, str) and signal.source.startswith(seen)


def _is_seq(seq: object) -> bool:
    number = _integer(seq)
    return number is not None and number >= 0


def _integer(value: object) -> int | None:
    """A whole number that fits a column, or None."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if -MAX_SEQ <= value <= MAX_SEQ else None


def _clean(value: object, room: int = 20_000) -> object:
    """What the journal keeps of a payload: printable, of bounded size (PAM-STORE-002), and JSON that SQLite reads."""
    if isinstance(value, str):
        return text.paragraphs(value)[:room]
    if isinstance(value, Mapping) and room >= 2000:
        return {text.paragraphs(str(key))[:100]: _clean(part, room // 10) for key, part in islice(value.items(), 20)}
    if isinstance(value, list) and room >= 2000:
        return [_clean(part, room // 10) for part in value[:20]]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool) else _integer(value)


def _actor(signal: Signal) -> str:
    if signal.source == "agent":
        return f"agent:{signal.run_id[:8]}"
    return "operator" if signal.source == "manual" else signal.source

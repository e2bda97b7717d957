"""Prompts and keys that are typed into live runs: queued by anybody, carried out by the executor, told step by step.

One at a time for each run, in order: queued → delivering → typed → confirmed or unconfirmed; refused where nothing was
typed. What may have been typed is never typed again: a delivery whose executor ended in the middle is unconfirmed.
The text stands in its row and nowhere else; the journal says how long it is and how it begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from peewee import Expression, ModelSelect

from store import text
from store.database import Store
from store.errors import Conflict, InvalidValue, LeaseHeld, NotFound
from store.models import DeliveryRow, LeaseRow, RunRow, tuples
from store.records import LIVE_RUN_STATUSES, Delivery, DeliveryKind
from store.run_rows import journal, row_of
from store.transaction import Transaction

MAX_BYTES = 131_071
"""Bytes of a prompt; a longer one belongs into a file that the prompt names."""
MAX_KEYS = 100
BEGINNING = 80
"""Characters of a prompt's first line that the journal tells."""
LATE = timedelta(hours=1)
"""How long after it was typed a prompt for a busy agent may still be confirmed."""

CUT_SHORT = (
    "The executor ended while it typed this, so it may have been typed or not: look with `pam run pane`, and send it "
    "again if it is not there."
)

_TOLD = {
    ("prompt", "queued"): "run.prompt_queued",
    ("prompt", "typed"): "run.prompt_delivered",
    ("prompt", "confirmed"): "run.prompt_confirmed",
    ("prompt", "unconfirmed"): "run.prompt_unconfirmed",
    ("prompt", "refused"): "run.prompt_refused",
    ("keys", "queued"): "run.keys_queued",
    ("keys", "typed"): "run.keys_sent",
    ("keys", "unconfirmed"): "run.keys_unconfirmed",
    ("keys", "refused"): "run.keys_refused",
}
"""Under which topic each step is journaled."""


def queue_prompt(store: Store, run_id: str, prompt: str, *, actor: str) -> Delivery:
    """Ask that a prompt is pasted into the run's present attempt and submitted.

    Raises NotFound, InvalidValue for a prompt that is empty or too long, Conflict for a run that does not live, and
    LeaseHeld while somebody types into it.
    """
    words = _checked_prompt(prompt)
    with store.write(actor) as tx:
        row = _live(tx, run_id)
        return _queue(tx, row, "prompt", words, ())


def queue_keys(store: Store, run_id: str, keys: Sequence[str], *, typed: str = "", actor: str) -> Delivery:
    """Ask that keys are pressed in the run's present attempt, after ``typed`` letter by letter. Raises likewise.

    Which keys may be pressed is the executor's business; it refuses others.
    """
    if not keys and not typed:
        raise InvalidValue("There is no key to press. Name one, such as Enter or Escape.", field="keys")
    if len(keys) > MAX_KEYS or len(typed) > MAX_BYTES or any(len(key) > 20 for key in keys):
        raise InvalidValue(f"At most {MAX_KEYS} keys at once, each by its name; text goes with `pam run send`.")
    with store.write(actor) as tx:
        row = _live(tx, run_id)
        return _queue(tx, row, "keys", typed, tuple(keys))


def queue_opening(
    store: Store, run_id: str, attempt: int, prompt: str, *, given: bool = False, actor: str
) -> Delivery | None:
    """The first prompt of an attempt, once; None when it was queued before, or the attempt is over.

    ``given``: the program has it as an argument, and will say that it took it up; until then no other is typed.
    """
    with store.write(actor) as tx:
        row = row_of(run_id)
        opened = DeliveryRow.select().where(
            DeliveryRow.run == run_id,
            DeliveryRow.attempt == attempt,
            DeliveryRow.opening == True,  # noqa: E712
        )
        if row.attempt != attempt or row.status not in LIVE_RUN_STATUSES or opened.exists():
            return None
        made = _queue(tx, row, "prompt", text.paragraphs(prompt), (), opening=True)
        if not given:
            return made
        # A question at the start may delay the word for as long as nobody answers it.
        return _move(tx, _row(made.id), ("queued",), "typed", typed_at=tx.now, awaited=True, while_busy=True)


def claim(store: Store, delivery_id: int, *, actor: str) -> Delivery | None:
    """Take a delivery to carry it out: queued → delivering.

    None when it is not queued any more, when its attempt does not run, or while another one of its run is under way;
    keys do not wait for the word about a prompt, they may answer what it is held up by.
    """
    with store.write(actor) as tx:
        row = _row(delivery_id)
        run = row_of(row.run_id)
        if run.status != "running" or run.attempt != row.attempt or run.stop_requested_at is not None:
            return None
        others = _open(run.id).where(DeliveryRow.status != "queued")
        if (others.where(DeliveryRow.status == "delivering") if row.kind == "keys" else others).exists():
            return None
        return _move(tx, row, ("queued",), "delivering", told=False)


def typed(
    store: Store, delivery_id: int, *, awaited: bool = False, while_busy: bool = False, actor: str
) -> Delivery | None:
    """It was typed. With ``awaited`` the agent's word that it took it up is to come; ``while_busy``: it worked then.

    None when the delivery is not under way any more.
    """
    with store.write(actor) as tx:
        row = _row(delivery_id)
        return _move(tx, row, ("delivering",), "typed", typed_at=tx.now, awaited=awaited, while_busy=while_busy)


def confirm(store: Store, run_id: str, attempt: int, *, actor: str) -> Delivery | None:
    """As ``taken_up``, in a transaction of its own."""
    with store.write(actor) as tx:
        return taken_up(tx, run_id, attempt)


def taken_up(tx: Transaction, run_id: str, attempt: int) -> Delivery | None:
    """Inside a transaction: the agent says that it took up a prompt; the oldest that waits for that word is confirmed.

    Without one it is the oldest that was typed while the agent was busy and given up since: a prompt that is queued by
    the agent itself is taken up late. None when there is no such prompt, as for one the operator typed by hand.
    """
    prompts = DeliveryRow.select().where(
        DeliveryRow.run == run_id, DeliveryRow.attempt == attempt, DeliveryRow.kind == "prompt"
    )
    waiting = prompts.where(DeliveryRow.status == "typed", DeliveryRow.awaited == True)  # noqa: E712
    late = prompts.where(
        DeliveryRow.status == "unconfirmed",
        DeliveryRow.while_busy == True,  # noqa: E712
        DeliveryRow.typed_at > tx.now - LATE,
    )
    row = waiting.order_by(DeliveryRow.id).first() or late.order_by(DeliveryRow.id).first()
    return _move(tx, row, ("typed", "unconfirmed"), "confirmed", reason=None) if row is not None else None


def unconfirmed(store: Store, delivery_id: int, reason: str, *, actor: str) -> Delivery | None:
    """It may have reached the agent, and nothing says so. None when that was settled already."""
    with store.write(actor) as tx:
        return _move(tx, _row(delivery_id), ("delivering", "typed"), "unconfirmed", reason=reason)


def refuse(store: Store, delivery_id: int, reason: str, *, actor: str) -> Delivery | None:
    """Nothing of it was typed, and nothing will be. None when it is beyond that."""
    with store.write(actor) as tx:
        return _move(tx, _row(delivery_id), ("queued", "delivering"), "refused", reason=reason)


def take_up_after_restart(store: Store, host_id: str, *, actor: str) -> list[Delivery]:
    """Settle what an executor left in the middle on a host: delivering → unconfirmed, never done again."""
    with store.write(actor) as tx:
        left = _with_runs().where(DeliveryRow.status == "delivering", RunRow.host == host_id).order_by(DeliveryRow.id)
        moved = [_move(tx, row, ("delivering",), "unconfirmed", reason=CUT_SHORT) for row in list(left)]
        return [one for one in moved if one is not None]


def get(store: Store, delivery_id: int) -> Delivery:
    """The delivery. Raises NotFound."""
    with store.read():
        return _record(_row(delivery_id))


def current(store: Store, run_id: str) -> Delivery | None:
    """What is to be done next for a run, or is under way; None when nothing is."""
    with store.read():
        row = _open(run_id).first()
        return _record(row) if row is not None else None


def queued_keys(store: Store, run_id: str, attempt: int) -> Delivery | None:
    """Keys that wait behind a prompt: they may answer the very question that the prompt has to wait for."""
    with store.read():
        keys = (DeliveryRow.kind == "keys") & (DeliveryRow.attempt == attempt) & (DeliveryRow.status == "queued")
        row = _open(run_id).where(keys).first()
        return _record(row) if row is not None else None


def of_run(store: Store, run_id: str, *, limit: int = 20) -> list[Delivery]:
    """The newest deliveries of a run, the oldest of them first."""
    with store.read():
        newest = DeliveryRow.select().where(DeliveryRow.run == run_id).order_by(DeliveryRow.id.desc()).limit(limit)
        return [_record(row) for row in newest][::-1]


def due(store: Store, host_id: str) -> list[str]:
    """Ids of the runs for which something is to be done: they run on this host, or will never run that attempt."""
    with store.read():
        runs = (
            RunRow.select(RunRow.id)
            .join(DeliveryRow, on=(DeliveryRow.run == RunRow.id))
            .where(
                _unsettled(),
                ((RunRow.status == "running") & (RunRow.host == host_id))
                | RunRow.status.not_in(LIVE_RUN_STATUSES)
                | (RunRow.attempt != DeliveryRow.attempt),
            )
            .distinct()
        )
        return [run_id for (run_id,) in tuples(runs)]


def _checked_prompt(prompt: str) -> str:
    words = text.paragraphs(prompt)
    size = len(words.encode())
    if not words.strip():
        raise InvalidValue("The prompt is empty. Say what the agent shall do.", field="prompt")
    if size > MAX_BYTES:
        raise InvalidValue(
            f"The prompt has {size:,} bytes; at most {MAX_BYTES:,} are typed. Put it into a file and name the file in "
            "the prompt.",
            field="prompt",
            limit=MAX_BYTES,
        )
    return words


def _live(tx: Transaction, run_id: str) -> RunRow:
    """A run that can be typed into. Raises NotFound, Conflict or LeaseHeld."""
    row = row_of(run_id)
    short = row.id[:8]
    if row.status not in LIVE_RUN_STATUSES:
        advice = f"Go on with its conversation: `pam run resume {short}`."
        if row.status == "failed":
            advice = f"Start it again: `pam run restart {short}`."
        raise Conflict(f"{row.session_name} is {row.status}: no agent is there. {advice}", status=row.status)
    if row.stop_requested_at is not None:
        raise Conflict(f"{row.session_name} is being stopped; wait for its end: `pam run wait {short}`.")
    held = LeaseRow.get_or_none(LeaseRow.run == run_id, LeaseRow.expires_at > tx.now)
    if held is not None:
        raise LeaseHeld(
            f"{held.holder} types into this run; both would be mixed up. Wait, or take it over with "
            f"`pam run release {short}`.",
            holder=held.holder,
            acquired_at=held.acquired_at.isoformat(),
        )
    return row


def _queue(
    tx: Transaction, run: RunRow, kind: DeliveryKind, body: str, keys: Sequence[str], *, opening: bool = False
) -> Delivery:
    id_ = DeliveryRow.insert(
        run=run.id,
        attempt=run.attempt,
        kind=kind,
        opening=opening,
        body=body,
        keys=list(keys),
        actor=tx.actor,
        created_at=tx.now,
    ).execute()
    row = _row(id_)
    first = body.strip().partition("\n")[0][:BEGINNING]
    facts = (
        {"length": len(body), "first_line": first} if kind == "prompt" else {"keys": list(keys), "length": len(body)}
    )
    journal(tx, run, _TOLD[kind, "queued"], delivery_id=id_, **facts)
    return _record(row)


def _move(
    tx: Transaction, row: DeliveryRow, before: Sequence[str], status: str, *, told: bool = True, **columns: object
) -> Delivery | None:
    """Guarded by the status it has: two callers can never both win."""
    if status in ("confirmed", "unconfirmed", "refused"):
        columns["settled_at"] = tx.now
    moved = (
        DeliveryRow.update(status=status, **columns)
        .where(DeliveryRow.id == row.id, DeliveryRow.status.in_(before))
        .execute()
    )
    if not moved:
        return None
    now = _row(row.id)
    if told:
        _journal(tx, now)
    return _record(now)


def _journal(tx: Transaction, row: DeliveryRow) -> None:
    """With the attempt it was meant for, which may be an earlier one by now."""
    run = row_of(row.run_id)
    facts: dict[str, object] = {"delivery_id": row.id} | ({"reason": row.reason} if row.reason else {})
    tx.journal(
        _TOLD[row.kind, row.status],
        run_id=run.id,
        attempt=row.attempt,
        task_id=run.task_id,
        provider=run.provider,
        session_name=run.session_name,
        **facts,
    )


def _row(delivery_id: int) -> DeliveryRow:
    row: DeliveryRow | None = DeliveryRow.get_or_none(DeliveryRow.id == delivery_id)
    if row is None:
        raise NotFound(f"There is no delivery {delivery_id}: its run was deleted.", id=delivery_id)
    return row


def _with_runs() -> ModelSelect[DeliveryRow]:
    return DeliveryRow.select(DeliveryRow).join(RunRow, on=(DeliveryRow.run == RunRow.id))


def _unsettled() -> Expression:
    awaited = (DeliveryRow.status == "typed") & (DeliveryRow.awaited == True)  # noqa: E712
    return DeliveryRow.status.in_(("queued", "delivering")) | awaited


def _open(run_id: str) -> ModelSelect[DeliveryRow]:
    """Deliveries of a run that are not over, in the order in which they are carried out."""
    under_way = DeliveryRow.status != "queued"
    return (
        DeliveryRow.select()
        .where(DeliveryRow.run == run_id, _unsettled())
        .order_by(under_way.desc(), DeliveryRow.attempt, DeliveryRow.opening.desc(), DeliveryRow.id)
    )


def _record(row: DeliveryRow) -> Delivery:
    return Delivery(
        id=row.id,
        run_id=row.run_id,
        attempt=row.attempt,
        kind=row.kind,
        status=row.status,
        opening=row.opening,
        text=row.body,
        keys=tuple(row.keys),
        reason=row.reason,
        awaited=row.awaited,
        actor=row.actor,
        created_at=row.created_at,
        typed_at=row.typed_at,
        settled_at=row.settled_at,
    )

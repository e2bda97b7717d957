"""The verbs of ``pam task`` that change an item."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from app.cli.call import Call
from app.cli.declare import argument, choice, command, option
from app.cli.shapes import shape, short_ids
from app.cli.task import emit
from store.errors import UsageError
from store.records import ITEM_STATUSES, KINDS, ItemStatus, Kind
from store.unset import UNSET

if TYPE_CHECKING:
    from store.moves import Confidence

CONFIDENCES = ("certain", "likely", "unsure")


@command("edit", prints='{"task": {…}}')
@argument("wanted", metavar="TASK")
@option("--title", metavar="T", help="A new title.")
@option("--description", metavar="T", help="A new description.")
@option("--assignee", metavar="A", help="Who does it; an empty one for nobody.")
@option("--kind", type=choice(KINDS), help="What it is.")
@option("--label", "labels", metavar="L", multiple=True, help="A label more; may be given again.")
@option("--unlabel", "unlabels", metavar="L", multiple=True, help="A label less; may be given again.")
@click.pass_obj
def edit(
    call: Call,
    wanted: str,
    title: str | None,
    description: str | None,
    assignee: str | None,
    kind: Kind | None,
    labels: tuple[str, ...],
    unlabels: tuple[str, ...],
) -> None:
    """Change what is given and nothing else."""
    from store import items, text

    relabel = bool(labels or unlabels)
    if title is None and description is None and assignee is None and kind is None and not relabel:
        raise UsageError("Say what to change: --title, --description, --assignee, --kind, --label or --unlabel.")
    found = items.find(call.store, wanted)
    words = ({*found.labels} | {text.label(word) for word in labels}) - {text.label(word) for word in unlabels}
    changed = items.edit(
        call.store,
        found.id,
        title=UNSET if title is None else title,
        description=UNSET if description is None else description,
        assignee=UNSET if assignee is None else assignee,
        kind=UNSET if kind is None else kind,
        labels=words if relabel else UNSET,
        actor=call.actor,
    )
    emit(call, changed)


@command("move", prints='{"task": {…}}')
@argument("wanted", metavar="TASK")
@option("--status", type=choice(ITEM_STATUSES), required=True, help="Where to.")
@click.pass_obj
def move(call: Call, wanted: str, status: ItemStatus) -> None:
    """Change the status, along a legal edge; cancelling takes along what is below and not done."""
    from store import items, moves

    found = items.find(call.store, wanted)
    emit(call, moves.move(call.store, found.id, status, actor=call.actor))


@command("done", prints='{"task": {…}}')
@argument("wanted", metavar="TASK")
@option("--confidence", type=choice(CONFIDENCES), help="How sure you are; kept in the journal.")
@click.pass_obj
def done(call: Call, wanted: str, confidence: Confidence | None) -> None:
    """Mark an item done; a short form of `move --status done`."""
    from store import items, moves

    found = items.find(call.store, wanted)
    emit(call, moves.move(call.store, found.id, "done", confidence=confidence, actor=call.actor))


@command("reparent", prints='{"task": {…}}')
@argument("wanted", metavar="TASK")
@option("--parent", metavar="J", help="The item to hang it below.")
@option("--root", "to_root", is_flag=True, help="Hang it at the root of its project.")
@click.pass_obj
def reparent(call: Call, wanted: str, parent: str | None, to_root: bool) -> None:
    """Hang an item below another, or at the root."""
    from store import items, moves

    if (parent is None) is not to_root:
        raise UsageError("Say where to: --parent J, or --root.")
    found = items.find(call.store, wanted)
    parent_id = items.find(call.store, parent).id if parent is not None else None
    emit(call, moves.reparent(call.store, found.id, parent_id, actor=call.actor))


@command("reorder", prints='{"task": {…}}')
@argument("wanted", metavar="TASK")
@option("--before", metavar="J", help="The item to stand before.")
@option("--after", metavar="J", help="The item to stand after.")
@click.pass_obj
def reorder(call: Call, wanted: str, before: str | None, after: str | None) -> None:
    """Put an item right before or after another of its project."""
    from store import items, moves

    if (before is None) == (after is None):
        raise UsageError("Say where to: --before J, or --after J.")
    found = items.find(call.store, wanted)
    anchor = items.find(call.store, before or after or "").id
    where = {"before": anchor} if before is not None else {"after": anchor}
    emit(call, moves.reorder(call.store, found.id, **where, actor=call.actor))


@command("delete", prints='{"task": {…}, "deleted": [ids]}')
@argument("wanted", metavar="TASK")
@option("--yes", is_flag=True, help="Yes, delete it; there is no way back.")
@click.pass_obj
def delete(call: Call, wanted: str, yes: bool) -> None:
    """Delete an item, what is below it, and their runs."""
    from store import items

    found = items.find(call.store, wanted)
    if not yes:
        raise UsageError(
            "Deleting cannot be undone: say --yes to mean it. `pam task move --status cancelled` keeps it."
        )
    gone = items.delete(call.store, found.id, actor=call.actor)
    data = {"task": shape(found), "deleted": gone}
    call.emit(data, f"deleted {short_ids([found.id])(found.id)}" + (f" and {len(gone) - 1} below it" * (len(gone) > 1)))

"""``pam search``: projects, items and runs by a few words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from app.cli.call import Call
from app.cli.declare import argument, command, option
from app.cli.shapes import Shape, short_ids
from app.cli.table import table

if TYPE_CHECKING:
    from store.search import Hit


@command(
    "search",
    prints='{"hits": [{"noun", "id", "title", "project", "kind", "status", "task_id", "session_name", "excerpt"}]}',
)
@argument("text", nargs=-1, required=True)
@option("--limit", type=click.IntRange(1, 200), default=30, metavar="N", help="So many at most; 30 unless given.")
@click.pass_obj
def search(call: Call, text: Sequence[str], limit: int) -> None:
    """Find projects, tasks and runs that hold every word of TEXT.

    Words are looked for in titles, labels, descriptions, prompts and what agents say they do; any part of a word will
    do.
    """
    from store.search import search as look

    found = look(call.store, " ".join(text), limit=limit)
    call.emit({"hits": [_shape(hit) for hit in found]}, lambda: _page(found))


def _shape(hit: Hit) -> Shape:
    return {
        "noun": "task" if hit.noun == "item" else hit.noun,
        "id": hit.id,
        "title": hit.title,
        "project": hit.project.slug,
        "kind": _kind(hit),
        "status": _status(hit),
        "task_id": hit.item.id if hit.item else None,
        "session_name": hit.run.session_name if hit.run else None,
        "excerpt": hit.excerpt,
    }


def _page(found: Sequence[Hit]) -> str:
    short = short_ids(hit.id for hit in found)
    rows = [[_kind(hit), short(hit.id), _status(hit), hit.project.slug, hit.title, hit.excerpt] for hit in found]
    return table(("WHAT", "ID", "STATUS", "PROJECT", "TITLE", "WHERE"), rows, empty="Nothing holds all of these words.")


def _kind(hit: Hit) -> str:
    """``project``, ``run``, or what kind of item it is."""
    return hit.item.kind if hit.item and not hit.run else hit.noun


def _status(hit: Hit) -> str:
    return (hit.run or hit.item or hit.project).status

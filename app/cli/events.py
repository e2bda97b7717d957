"""``pam events``: the journal, read and followed."""

from __future__ import annotations

import sys
import threading

import click

from app.cli import output
from app.cli.call import Call
from app.cli.declare import group, option
from app.cli.shapes import shape, shapes


@group("events")
def events() -> None:
    """The journal: what happened, and who did it."""


@events.command("list", prints='{"events": [{"seq", "topic", "actor", "at", "payload"}]}')
@option("--topic", metavar="GLOB", default="*", help="Only topics that match, as `run.*`.")
@option("--after", type=click.IntRange(min=0), metavar="SEQ", help="From the first event after this one on.")
@option("--limit", type=click.IntRange(min=1), default=50, metavar="N", help="So many at most; 50 unless given.")
@click.pass_obj
def list_(call: Call, topic: str, after: int | None, limit: int) -> None:
    """List events: the newest, or those after a position; the oldest of them first."""
    from app.cli.said import event_table
    from store import journal

    if after is None:
        found = journal.latest(call.store, topic=topic, limit=limit)
    else:
        found = journal.read(call.store, after=after, topic=topic, limit=limit)
    call.emit({"events": shapes(found)}, lambda: event_table(found))


@events.command("tail", prints="one event a line, each an object by itself")
@option("--topic", metavar="GLOB", default="*", help="Only topics that match, as `run.*`.")
@option("--after", type=click.IntRange(min=0), metavar="SEQ", help="From the first event after this one on.")
@click.pass_obj
def tail(call: Call, topic: str, after: int | None) -> None:
    """Print events as they come, one a line, until interrupted."""
    from app.cli.said import event_line
    from store import journal

    start = journal.head(call.store) if after is None else after
    for event in journal.follow(call.store, after=start, topic=topic, stop=threading.Event()):
        output.put(output.to_json(shape(event)) if call.json else event_line(event))
        sys.stdout.flush()

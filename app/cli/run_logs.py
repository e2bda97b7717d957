"""``pam run logs``: what a run has written, from its first byte, cleaned of what only a terminal understands."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click

from app.cli.call import Call
from app.cli.declare import argument, command, option
from app.cli.log_reader import LogReader
from app.cli.plain_log import PlainLog, plain_text
from store.errors import NotFound, UsageError
from store.records import Event, Run

LOOK_S = 0.2
LAST_WORDS_S = 0.5
"""How long after a run's end its log may still grow: tmux hands the last bytes on by itself."""


@command("logs", prints='{"log": {"text", "path", "bytes"}}')
@argument("wanted", metavar="RUN")
@option("--follow", is_flag=True, help="Go on as it grows, until the run has ended.")
@option("--raw", is_flag=True, help="Byte for byte, with escape sequences.")
@click.pass_obj
def logs(call: Call, wanted: str, follow: bool, raw: bool) -> None:
    """Print what a run has written since it began, all of its attempts."""
    from store import runs

    if call.json and follow:
        raise UsageError("--follow goes on and --json is one object; give one of them.")
    run = runs.find(call.store, wanted)
    path = call.home.path / "runs" / f"{run.id}.log"
    if follow:
        _write(_growing(call, run, path), raw=raw)
        return
    if not (path.exists() or path.with_name(path.name + ".1").exists()):
        state = "is pending" if run.status == "pending" else f"is {run.status} and has left no log"
        raise NotFound(f"There is no log at {path}: the run {state}.", run_id=run.id, path=str(path))
    if call.json:
        data = b"".join(_written(path))
        text = data.decode("utf-8", "replace") if raw else plain_text(data)
        call.emit({"log": {"text": text, "path": str(path), "bytes": len(data)}}, "")
    else:
        _write(_written(path), raw=raw)


def _write(chunks: Iterator[bytes], *, raw: bool) -> None:
    plain = PlainLog()
    for chunk in chunks:
        if raw:
            sys.stdout.flush()
            sys.stdout.buffer.write(chunk)
        else:
            sys.stdout.write(plain.take(chunk))
        sys.stdout.flush()
    sys.stdout.write("" if raw else plain.rest())


def _written(path: Path) -> Iterator[bytes]:
    """What stands in the log, the part that was rotated away first."""
    with closing(LogReader(path)) as reader:
        yield from reader.new()


def _growing(call: Call, run: Run, path: Path) -> Iterator[bytes]:
    """What is written, from the beginning until the run is over and its last words have come."""
    from app.cli.run_wait import over
    from store import journal, runs

    woken = threading.Event()

    def deliver(events: list[Event]) -> None:
        if any(event.payload.get("run_id") == run.id for event in events):
            woken.set()

    tail = journal.Tail(call.store, deliver).start()
    reader = LogReader(path)
    try:
        ended = over(runs.get(call.store, run.id))
        yield from reader.new()
        while not ended:
            # Bytes come without a word in the journal; an end comes with one.
            if woken.wait(LOOK_S):
                woken.clear()
                ended = over(runs.get(call.store, run.id))
            yield from reader.new()
        threading.Event().wait(LAST_WORDS_S)
        yield from reader.new()
    finally:
        reader.close()
        tail.close()

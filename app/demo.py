"""The demonstration: three demo agents and a shell run at once, on a home and a tmux server of their own.

On a terminal it opens the control room over them; without one it prints the finished board and says whether every run
ended as it was told to. Nothing of it is left behind.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.settings import Settings, load
from executor.service import host_executor
from executor.tmux import oneshot
from store import items, journal, moves, projects, runs
from store.database import Store, open_store
from store.home import Home
from store.records import Run

ACTOR = "operator"
LONGEST_S = 90.0


@dataclass(frozen=True, slots=True)
class Play:
    """One run of the demonstration and how it is told to end."""

    title: str
    provider: str
    prompt: str | None
    args: tuple[str, ...] = ()
    ends: str = "exited"
    code: int = 0
    label: str = ""


PLAYS = (
    Play(
        "Fix the flaky auth tests", "demo", "Fix the flaky auth tests [[steps 5]] [[edit auth_test.md]]", label="auth"
    ),
    Play("Upgrade the ORM", "demo", "Upgrade the ORM [[steps 4]] [[pace 0.8]] [[edit models.md]]", label="db"),
    Play(
        "Try the new parser",
        "demo",
        "Try the new parser [[steps 3]] [[exit 3]]",
        ends="failed",
        code=3,
        label="spike",
    ),
    Play(
        "Count the lines", "shell", None, ("sh", "-c", "for n in 1 2 3; do echo line $n; sleep 0.4; done"), label="ops"
    ),
)

QUESTION = "Migrate the sessions table [[steps 2]] [[ask Two rows have no owner. Delete them?]] [[steps 2]]"


def run_demo() -> int:
    """Play it; 0 when every run ended as told, 1 otherwise."""
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    with _stage() as (store, settings, project_id):
        if on_terminal:
            return _show(store, settings, project_id)
        return _play_through(store, settings, project_id)


@contextmanager
def _stage() -> Iterator[tuple[Store, Settings, str]]:
    """A home, a working directory and a tmux server that exist for the demonstration only."""
    folder = Path(tempfile.mkdtemp(prefix="pam-demo-"))
    home = Home(folder / "home")
    home.make()
    work = folder / "checkout-service"
    work.mkdir()
    settings = load(home, None, {}, {"tmux.socket": f"pam-demo-{os.getpid()}", "executor.hold_open_s": "3600"})
    store = open_store(home.database)
    try:
        project = projects.add(store, "Checkout service", cwd=str(work), actor=ACTOR)
        _furnish(store, project.id)
        yield store, settings, project.id
    finally:
        store.close()
        oneshot.end_server(settings.executor)
        shutil.rmtree(folder, ignore_errors=True)


def _furnish(store: Store, project_id: str) -> None:
    """What stands on the board beside the four tasks that run."""
    epic = items.create(store, project_id, "Sessions that survive a deploy", kind="epic", actor=ACTOR)
    for title, status in (("Choose a store", "done"), ("Write the adapter", "todo"), ("Load test it", "todo")):
        task = items.create(store, project_id, title, parent_id=epic.id, actor=ACTOR)
        if status == "done":
            moves.move(store, task.id, "done", actor=ACTOR)
    items.create(store, project_id, "Add rate limiting", labels=("api",), assignee="codex", actor=ACTOR)
    done = items.create(store, project_id, "Rotate the signing keys", labels=("security",), actor=ACTOR)
    moves.move(store, done.id, "done", actor=ACTOR)
    dropped = items.create(store, project_id, "Port to gRPC", actor=ACTOR)
    moves.move(store, dropped.id, "cancelled", actor=ACTOR)


def _start(store: Store, project_id: str, play: Play) -> tuple[Play, Run]:
    labels = (play.label,) if play.label else ()
    item = items.create(store, project_id, play.title, labels=labels, actor=ACTOR)
    moves.move(store, item.id, "doing", actor=ACTOR)
    cwd = projects.get(store, project_id).cwd or "/"
    run = runs.start(store, item.id, play.provider, cwd, prompt=play.prompt, args=play.args, actor=ACTOR)
    return play, run


def _show(store: Store, settings: Settings, project_id: str) -> int:
    from app.room import control_room, show

    for play in (*PLAYS, Play("Migrate the sessions table", "demo", QUESTION, label="db")):
        _start(store, project_id, play)
    with control_room(store, settings, project_id=project_id) as room:
        show(room)
    print("The demonstration is over; its home and its tmux server are gone.")  # noqa: T201
    return 0


def _play_through(store: Store, settings: Settings, project_id: str) -> int:
    ended = threading.Event()
    with host_executor(store, settings.home, settings.executor, hosted_by="command"):
        playing = [_start(store, project_id, play) for play in PLAYS]
        tail = journal.Tail(store, lambda _: ended.set() if _all_ended(store, playing) else None, after=0).start()
        try:
            ended.wait(LONGEST_S)
        finally:
            tail.close()
    _print_board(store, project_id)
    wrong = [line for line in (_fault(play, runs.get(store, run.id)) for play, run in playing) if line]
    for line in wrong:
        print(line, file=sys.stderr)  # noqa: T201
    return 1 if wrong else 0


def _all_ended(store: Store, playing: list[tuple[Play, Run]]) -> bool:
    return not any(runs.get(store, run.id).live for _, run in playing)


def _fault(play: Play, run: Run) -> str:
    if (run.status, run.exit_code) == (play.ends, play.code):
        return ""
    return f"{play.title}: told to end {play.ends} {play.code}, but it is {run.status} {run.exit_code}"


def _print_board(store: Store, project_id: str) -> None:
    from app.cli.board_text import board_text

    print(board_text(store, project_id))  # noqa: T201

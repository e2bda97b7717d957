"""``make screenshots``: the pictures of the README, of a real control room over real agents.

A home, a tmux server and a directory of their own are made for it, as ``pam demo`` makes them; four demo agents and two
shells are started, and when one of them asks something, each place is drawn into ``docs/screenshots``. Names, sizes and
the time of day are always the same; where the home stands on this machine is not told.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from textual.pilot import Pilot

from app.control_room import ControlRoom
from app.room import control_room
from app.settings import Settings, load
from executor.tmux import oneshot
from screens.place import PlaceScreen
from store import items, moves, projects, runs
from store.database import Store, open_store
from store.home import Home
from store.records import Item

WHERE: Final = Path(__file__).parents[2] / "docs" / "screenshots"
SIZE: Final = (132, 38)
TIME: Final = "12:04"
ACTOR: Final = "operator"
PATIENCE_S: Final = 60.0
SHOWN_HOME: Final = "/home/mara"
"""Stands where the directory of this machine stood."""
PROGRAMS: Final = {"claude": "2.1.332 (Claude Code)", "codex": "codex-cli 0.171.0", "gemini": "0.36.0"}
"""What these say of themselves on the pictures' machine; no agent of theirs is started."""
ASKING: Final = "Migrate the sessions table"
WORK: Final = (
    ("Fix the flaky auth tests", "demo", "[[steps 30]] [[pace 1.5]] [[edit tests/auth.md]]", "tests"),
    ("Upgrade the ORM to 3.1", "demo", "[[steps 24]] [[pace 2]] [[edit models.md]]", "db"),
    (ASKING, "demo", "[[steps 4]] [[pace 0.4]] [[ask Two rows have no owner. Delete them?]] [[steps 2]]", "db"),
    ("Measure checkout latency", "shell", "while :; do echo p95 $((RANDOM % 40 + 120)) ms; sleep 1; done", "perf"),
    ("Try the new parser", "demo", "[[steps 2]] [[pace 0.3]] [[exit 3]]", "spike"),
    ("Count the lines", "shell", "for n in 1 2 3; do echo line $n; done", "ops"),
)

Look = Callable[[Pilot[None]], Awaitable[None]]


def main() -> int:
    """Draw them all; the exit code."""
    WHERE.mkdir(exist_ok=True)
    with _stage() as (store, settings, project_id, hidden):
        asyncio.run(_draw(store, settings, project_id, hidden))
    return 0


@contextmanager
def _stage() -> Iterator[tuple[Store, Settings, str, Mapping[str, str]]]:
    """A home with a project and its runs, and what of it is not to be shown."""
    root = Path(tempfile.mkdtemp(prefix="p", dir="/tmp"))  # short, for it is written over
    home, work = Home(root / ".local/share/pam"), root / "code/checkout-service"
    for directory in (root / "bin", work / "tests"):
        directory.mkdir(parents=True)
    home.make()
    for name, version in PROGRAMS.items():
        (root / "bin" / name).write_text(f"#!/bin/sh\necho '{version}'\n")
        (root / "bin" / name).chmod(0o755)
    os.environ |= {"HOME": str(root), "PATH": f"{root / 'bin'}:/usr/bin:/bin", "TMUX_TMPDIR": str(root)}
    os.chdir(work)  # where the doctor looks
    settings = load(home, None, {}, {"tmux.socket": "pam", "executor.hold_open_s": "3600"})
    store = open_store(home.database)
    try:
        project = projects.add(store, "Checkout service", cwd=str(work), actor=ACTOR)
        _furnish(store, project.id)
        yield store, settings, project.id, {str(root): SHOWN_HOME, sys.executable: "/usr/bin/python3"}
    finally:
        store.close()
        oneshot.end_server(settings.executor)
        shutil.rmtree(root, ignore_errors=True)


def _furnish(store: Store, project_id: str) -> None:
    release = items.create(store, project_id, "Release 4.0", kind="milestone", actor=ACTOR)
    epic = items.create(
        store, project_id, "Sessions that survive a deploy", kind="epic", parent_id=release.id, actor=ACTOR
    )
    for title, status in (("Choose a store", "done"), ("Write the adapter", "todo"), ("Load test it", "todo")):
        _item(store, project_id, title, status, epic)
    for title, label, who in (("Add rate limiting", "api", "codex"), ("Document the refund flow", "docs", "mara")):
        items.create(store, project_id, title, labels=(label,), assignee=who, actor=ACTOR)
    _item(store, project_id, "Rotate the signing keys", "done")
    _item(store, project_id, "Port to gRPC", "cancelled")
    for title, provider, told, label in WORK:
        above = epic if label == "db" else release
        task = items.create(store, project_id, title, labels=(label,), parent_id=above.id, actor=ACTOR)
        moves.move(store, task.id, "doing", actor=ACTOR)
        cwd = projects.get(store, project_id).cwd or "/"
        if provider == "shell":
            runs.start(store, task.id, provider, cwd, args=("bash", "-c", told), actor=ACTOR)
        else:
            runs.start(store, task.id, provider, cwd, prompt=f"{title} {told}", actor=ACTOR)


def _item(store: Store, project_id: str, title: str, status: str, above: Item | None = None) -> None:
    made = items.create(store, project_id, title, parent_id=above.id if above else None, actor=ACTOR)
    if status != "todo":
        moves.move(store, made.id, status, actor=ACTOR)  # type: ignore[arg-type]


async def _draw(store: Store, settings: Settings, project_id: str, hidden: Mapping[str, str]) -> None:
    quiet = replace(settings, notify=replace(settings.notify, via=()))
    with control_room(store, quiet, project_id=project_id) as room:
        async with room.run_test(size=SIZE) as pilot:
            await _until(pilot, lambda: _settled(store))
            for name, look in LOOKS.items():
                await look(pilot)
                (WHERE / f"{name}.svg").write_text(_neutral(room.export_screenshot(title="pam"), hidden))
                sys.stdout.write(f"docs/screenshots/{name}.svg\n")


def _settled(store: Store) -> bool:
    """One asks, one failed, one has ended, three are at work."""
    counts = {str(status): count for status, count in runs.counts(store).items()}
    asks = any(run.activity == "waiting" for run in runs.live(store))
    return asks and (counts.get("running"), counts.get("failed"), counts.get("exited")) == (4, 1, 1)


async def _board(pilot: Pilot[None]) -> None:
    await _down_to(pilot, ASKING)
    await _shows(pilot, "› ")


async def _tree(pilot: Pilot[None]) -> None:
    await pilot.press("2")
    await _at(pilot, "tree")
    await pilot.press("g")
    await _down_to(pilot, ASKING)
    await _shows(pilot, "› ")


async def _wall(pilot: Pilot[None]) -> None:
    await pilot.press("3")
    await _at(pilot, "wall")
    await _shows(pilot, "› ", "p95", "Make a plan")


async def _providers(pilot: Pilot[None]) -> None:
    await pilot.press("5")
    await _at(pilot, "providers")
    await _shows(pilot, "0.171.0", "0.36.0")
    await pilot.press("j", "j")
    await _shows(pilot, "Doctor · claude", "proven with")


async def _run(pilot: Pilot[None]) -> None:
    await pilot.press("1")
    await _at(pilot, "board")
    await pilot.press("g", "enter")
    await _at(pilot, "run")
    await _shows(pilot, "Signals", "✎")


LOOKS: Final[Mapping[str, Look]] = {
    "board": _board,
    "tree": _tree,
    "wall": _wall,
    "providers": _providers,
    "run": _run,
}


def _room(pilot: Pilot[None]) -> ControlRoom:
    assert isinstance(pilot.app, ControlRoom)
    return pilot.app


def _text(pilot: Pilot[None]) -> str:
    return "\n".join(strip.text for strip in _room(pilot).screen._compositor.render_strips())


async def _down_to(pilot: Pilot[None], title: str) -> None:
    """Put the cursor on an item's card or row."""
    place = _room(pilot).screen
    assert isinstance(place, PlaceScreen)
    await _until(pilot, lambda: place.here().card)
    while (card := place.here().card) is None or card.item.title != title:
        await pilot.press("j")


async def _at(pilot: Pilot[None], place: str) -> None:
    await _until(pilot, lambda: getattr(_room(pilot).screen, "PLACE", "") == place)


async def _shows(pilot: Pilot[None], *parts: str) -> None:
    await _until(pilot, lambda: all(part in _text(pilot) for part in parts))


async def _until(pilot: Pilot[None], holds: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not holds():
            await pilot.pause(0.05)
    await pilot.pause(0.3)


def _neutral(svg: str, hidden: Mapping[str, str]) -> str:
    """Without fonts from elsewhere, the time of day, and paths of this machine; every row keeps its width."""
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code", "ui-monospace")
    svg = re.sub(r"\b\d\d:\d\d\b", TIME, svg)
    for real, shown in hidden.items():
        head, *pieces = svg.split(real)
        room = "&#160;" * (len(real) - len(shown))
        svg = head + "".join(shown + piece.replace("<", f"{room}<", 1) for piece in pieces)
    return svg


if __name__ == "__main__":
    sys.exit(main())

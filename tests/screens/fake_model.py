"""A control room's model in memory, with a believable project in it; verbs are recorded and can be refused.

Its parts are in ``tests/screens/fakes``, one for each part of ``screens.model``.
"""

from __future__ import annotations

from dataclasses import dataclass

from screens.model import HeaderFacts
from store.records import ITEM_STATUSES, ItemStatus
from tests.screens.fakes.activity import FakeActivity
from tests.screens.fakes.answers import FakeAnswers
from tests.screens.fakes.attach import FakeAttach
from tests.screens.fakes.core import NOW, clock, host, item, project, run, uid
from tests.screens.fakes.hosts import FakeHosts
from tests.screens.fakes.item import FakeItem
from tests.screens.fakes.memory import FakeMemory
from tests.screens.fakes.providers import FakeProviders
from tests.screens.fakes.run import FakeRun
from tests.screens.fakes.search import FakeSearch
from tests.screens.fakes.tree import FakeTree
from tests.screens.fakes.wall import FakeWall

__all__ = ["NOW", "FakeModel", "bare", "clock", "crowded", "empty", "host", "item", "project", "run", "sample", "uid"]


@dataclass
class FakeModel(
    FakeItem,
    FakeRun,
    FakeTree,
    FakeWall,
    FakeHosts,
    FakeProviders,
    FakeActivity,
    FakeSearch,
    FakeMemory,
    FakeAttach,
    FakeAnswers,
):
    """Implements ``ControlRoomModel``. ``calls`` are the verbs as they came; ``refuse`` makes the next one fail."""


_ORANGE = "\x1b[38;2;215;119;87m"
CLAUDE = [
    "\x1b[38;2;215;119;87m╭───────────────────────────────────────────────────╮\x1b[39m",
    f"{_ORANGE}│\x1b[39m {_ORANGE}✻\x1b[39m Welcome to \x1b[1mClaude Code\x1b[22m!{' ' * 25}{_ORANGE}│\x1b[39m",
    f"{_ORANGE}│\x1b[39m   \x1b[2mcwd: /home/mara/code/checkout\x1b[22m                   {_ORANGE}│\x1b[39m",
    "\x1b[38;2;215;119;87m╰───────────────────────────────────────────────────╯\x1b[39m",
    "",
    "\x1b[2m> \x1b[22mFix the flaky auth tests",
    "",
    "\x1b[32m●\x1b[39m I'll look at the failing tests first.",
    "",
    "\x1b[32m●\x1b[39m \x1b[1mRead\x1b[22m(tests/auth/test_login.py)",
    "  \x1b[2m⎿  Read 212 lines\x1b[22m",
    "",
    "\x1b[32m●\x1b[39m \x1b[1mUpdate\x1b[22m(tests/auth/test_login.py)",
    "  \x1b[2m⎿  Updated with 2 additions and 1 removal\x1b[22m",
    "     41      def test_session_expires(client, \x1b[36mfrozen_time\x1b[39m):",
    "     \x1b[48;2;74;34;38m42 -        time.sleep(1.1)                              \x1b[49m",
    "     \x1b[48;2;30;58;42m42 +        frozen_time.tick(seconds=2)                  \x1b[49m",
    "     \x1b[48;2;30;58;42m43 +        client.refresh()                             \x1b[49m",
    "",
    "\x1b[33m╭─ Bash command ────────────────────────────────────╮\x1b[39m",
    "\x1b[33m│\x1b[39m  \x1b[1mpytest -x tests/auth\x1b[22m                             \x1b[33m│\x1b[39m",
    "\x1b[33m│\x1b[39m                                                   \x1b[33m│\x1b[39m",
    "\x1b[33m│\x1b[39m  Do you want to proceed?                          \x1b[33m│\x1b[39m",
    "\x1b[33m│\x1b[39m  \x1b[36m❯ 1. Yes\x1b[39m                                         \x1b[33m│\x1b[39m",
    "\x1b[33m│\x1b[39m    2. No, and tell Claude what to do differently  \x1b[33m│\x1b[39m",
    "\x1b[33m╰───────────────────────────────────────────────────╯\x1b[39m",
    "",
    "",
]
"""A screen as an agent draws it, with blank rows below."""

_DESCRIPTION = """\
Three tests in `tests/auth` fail about once in ten runs.

- They sleep instead of moving the clock.
- One shares a session between tests.

Done when 200 runs in a row are green.
"""


def sample() -> FakeModel:
    """A project in the middle of its life: every state of a run is on the board."""
    board = FakeModel(facts=HeaderFacts("here", unread=14))
    board.add(
        project(), project(2, "design-tokens", None), host(0, "local"), host(1, "gpu-1"), host(2, "mini", "offline")
    )
    board.add(
        item(1, "Add rate limiting to the public API", labels=("api",), assignee="codex", parent=20),
        item(2, "Split the billing worker", kind="epic", labels=("billing",)),
        item(3, "Retry webhooks with backoff", parent=2, labels=("billing", "webhooks")),
        item(4, "Document the refund flow", parent=2, assignee="mara"),
        item(10, "Fix flaky auth tests", "doing", labels=("tests",), assignee="claude", description=_DESCRIPTION),
        item(11, "Upgrade the ORM to 3.1 and drop the compatibility shims", "doing", labels=("db",), parent=20),
        item(12, "Measure checkout latency", "doing", assignee="mara"),
        item(13, "Port the cart to the new session store", "doing", parent=20),
        item(14, "Translate error pages 日本語 and العربية", "doing", labels=("i18n",)),
        item(20, "Release 4.0", "doing", "milestone"),
        item(30, "Rotate signing keys", "done", labels=("security",)),
        item(31, "Move CI to the new runners", "done", assignee="codex"),
        item(32, "Delete the legacy importer", "done"),
        item(33, "Cache exchange rates", "done", labels=("api",), parent=2),
        item(40, "Port to gRPC", "cancelled", "epic"),
        item(101, "Freeze the clock", "done", "subtask", parent=10),
        item(102, "Give each test its own session", "done", "subtask", parent=10),
        item(103, "Run the suite 200 times", "todo", "subtask", parent=10),
    )
    board.add(
        run(
            201,
            10,
            "claude",
            activity="waiting",
            source="hook:claude",
            note="May I run `pytest -x tests/auth`?",
            model="opus",
        ),
        run(202, 11, "codex", activity="working", source="hook:codex", minutes=3, host="gpu-1"),
        run(203, 12, "shell", minutes=48),
        run(204, 13, "claude", "spawning", minutes=0.2),
        run(205, 14, "codex", activity="idle", source="agent", minutes=125),
        run(206, 1, "codex", "pending", minutes=2),
        run(207, 30, "claude", "exited", minutes=200, exit_code=0),
        run(208, 30, "claude", "failed", minutes=300, exit_code=1),
        run(209, 31, "codex", "exited", minutes=1500, exit_code=0),
        run(210, 32, "demo", "stopped", minutes=4000, exit_code=-15),
        run(211, 3, "claude", "failed", minutes=31, exit_code=2),
        run(212, 10, "claude", "failed", minutes=90, exit_code=1),
    )
    for each in board.runs.values():
        if each.status == "running":
            board.screens[each.id] = CLAUDE
    first = uid(201)
    board.happen(
        ("run.created", {"run_id": first, "task_id": uid(10), "attempt": 1}),
        ("run.spawning", {"run_id": first, "task_id": uid(10), "attempt": 1, "host": "local"}),
        ("run.started", {"run_id": first, "task_id": uid(10), "attempt": 1, "pid": 48_213}),
        ("run.signal_received", {"run_id": first, "task_id": uid(10), "attempt": 1, "kind": "progress",
                                 "said": {"activity": "working"}}),
        ("run.signal_received", {"run_id": first, "task_id": uid(10), "attempt": 1, "kind": "progress",
                                 "said": {"activity": "waiting", "note": "May I run `pytest -x tests/auth`?"}}),
    )  # fmt: skip
    return board


def empty() -> FakeModel:
    """A home that was just made."""
    return FakeModel(facts=HeaderFacts("here")).add(host(0, "local"))


def bare() -> FakeModel:
    """A project without items."""
    return empty().add(project())


def crowded(count: int) -> FakeModel:
    """``count`` cards, half of them in one column, some with runs (FR-9)."""
    board = FakeModel(facts=HeaderFacts("here")).add(project(), host(0, "local"))
    for number in range(1, count + 1):
        status: ItemStatus = "todo" if number % 2 else ITEM_STATUSES[number % 4]
        board.add(item(number, f"Item {number} of a long backlog", status, labels=("bulk",)))
        if number % 10 == 0:
            board.add(run(100_000 + number, number, activity="working", source="hook:claude"))
    return board

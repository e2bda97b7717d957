"""Identity and the kill ladder on real processes: nothing of the tree is left, nothing else is touched."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from executor import processes
from executor.processes import ProcessId, end_tree, identify, liveness, send, tree
from tests.support.waiting import until

MARKS = {"PAM_RUN": "5f0c1f7e-8a54-4c5e-9a5e-0d3f5f4b7a11", "PAM_ATTEMPT": "2"}
SLEEP = "exec sleep 600"
STUBBORN = "trap '' TERM; while :; do sleep 0.1; done"

Begin = Callable[..., ProcessId]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    """Starts a shell in a group of its own, once it has said ``ready``; what it leaves is killed by its marker."""
    started: list[subprocess.Popen[bytes]] = []
    marker = {"PAM_TEST_MARKER": str(tmp_path)}

    def start(script: str, env: dict[str, str] | None = None, *, session: bool = True) -> ProcessId:
        shell = subprocess.Popen(
            ["/bin/sh", "-c", script],
            env={"PATH": os.environ["PATH"]} | marker | (env or {}),
            stdout=subprocess.PIPE,
            cwd=tmp_path,
            start_new_session=session,
        )
        started.append(shell)
        assert shell.stdout and shell.stdout.readline() == b"ready\n"
        found = identify(shell.pid)
        assert found
        return found

    yield start
    for process in psutil.process_iter():
        try:
            if process.environ().get("PAM_TEST_MARKER") == str(tmp_path):
                process.kill()
        except psutil.Error:
            continue
    for shell in started:
        shell.wait()
        assert shell.stdout
        shell.stdout.close()


def named(tmp_path: Path, name: str) -> ProcessId:
    """The process that wrote its pid to a file of this name."""
    until(lambda: (tmp_path / name).exists() and (tmp_path / name).read_text().endswith("\n"), 10, name)
    found = identify(int((tmp_path / name).read_text()))
    assert found
    return found


def reaped(process: ProcessId) -> bool:
    """Our own children stay as zombies until the fixture waits for them; those count as dead."""
    return liveness(process) == "dead"


# -- identity


def test_a_process_is_known_by_pid_and_start() -> None:
    """FR-20: a pid alone may be somebody else's by now."""
    me = identify(os.getpid())
    assert me is not None
    assert liveness(me) == "alive"
    assert liveness(ProcessId(me.pid, me.started - 100)) == "dead"


def test_unknown_start_is_unknown_not_dead(begin: Begin) -> None:
    """FR-22: nothing is done on unknown."""
    process = begin(f"echo ready; {SLEEP}")
    nameless = ProcessId(process.pid, 0)
    assert liveness(nameless) == "unknown"
    assert not send(nameless, signal.SIGKILL)
    assert liveness(process) == "alive"


def test_zombie_is_dead() -> None:
    """The agent ended; that nobody reaped it changes nothing."""
    child = subprocess.Popen(["/bin/sh", "-c", "exit 0"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    try:
        assert identify(child.pid) is None
        assert liveness(ProcessId(child.pid, 1)) == "dead"
    finally:
        child.wait()


@pytest.mark.parametrize("pid", [0, -1])
def test_nobody_is_dead_and_never_signalled(pid: int) -> None:
    """To the kernel 0 and -1 mean everybody."""
    assert liveness(ProcessId(pid, 0)) == "dead"
    assert not send(ProcessId(pid, 1), 0)


def test_start_of_another_process_protects_it(begin: Begin) -> None:
    process = begin(f"echo ready; {SLEEP}")
    assert not send(ProcessId(process.pid, process.started + 1), signal.SIGKILL)
    assert liveness(process) == "alive"
    assert send(process, signal.SIGKILL)
    until(lambda: reaped(process), 5)


def test_the_way_without_proc_sees_the_same(begin: Begin) -> None:
    """What macOS uses, held against the kernel's own count."""
    process = begin(f"echo ready; {SLEEP}")
    elsewhere, here = processes._look_elsewhere(process.pid), processes._look(process.pid)
    assert elsewhere and here
    assert (elsewhere.parent, elsewhere.group, elsewhere.session) == (here.parent, here.group, here.session)
    assert abs(elsewhere.me.started - time.time()) < 60
    assert not elsewhere.dead
    assert processes._look_elsewhere(2**22 + 1) is None


# -- the tree


FAMILY = f"""
sh -c 'echo $$ > child; {SLEEP}' &
{sys.executable} -ISE -c 'import os, time; os.setsid(); print(os.getpid(), file=open("away", "w")); time.sleep(600)' &
echo ready
wait
"""


def test_tree_holds_children_in_other_sessions_but_no_neighbour(begin: Begin, tmp_path: Path) -> None:
    neighbour = begin(f"echo ready; {SLEEP}")
    root = begin(FAMILY)
    child, away = named(tmp_path, "child"), named(tmp_path, "away")
    assert tree(root)[0] == root
    assert set(tree(root)) == {root, child, away}
    assert neighbour not in tree(root)


def test_tree_holds_the_rest_of_the_wrappers_session(begin: Begin, tmp_path: Path) -> None:
    """A job whose parents are gone is still in the terminal session; the wrapper outlives it to report."""
    script = f"(sh -c 'echo $$ > orphan; {SLEEP}' &) ; sh -c 'echo $$ > agent; {SLEEP}' & echo ready; wait"
    wrapper = begin(script)
    orphan, agent = named(tmp_path, "orphan"), named(tmp_path, "agent")
    assert set(tree(agent)) == {agent}
    assert set(tree(agent, wrapper=wrapper)) == {agent, orphan}
    assert set(tree(wrapper, wrapper=wrapper)) == {wrapper, agent, orphan}
    assert set(tree(agent, wrapper=ProcessId(wrapper.pid, wrapper.started + 1))) == {agent}
    assert set(tree(agent, wrapper=ProcessId(0, 0))) == {agent}


DAEMON = f"""
({sys.executable} -ISE -c 'import os, time
os.setsid()
if os.fork(): os._exit(0)
print(os.getpid(), file=open("daemon", "w"))
time.sleep(600)') & wait
echo ready
"""


def test_tree_finds_by_environment_what_forked_twice_and_left(begin: Begin, tmp_path: Path) -> None:
    root = begin(DAEMON + SLEEP, MARKS)
    daemon = named(tmp_path, "daemon")
    assert daemon not in tree(root)
    assert set(tree(root, marks=MARKS)) == {root, daemon}
    assert daemon not in tree(root, marks=MARKS | {"PAM_ATTEMPT": "3"})


def test_this_process_is_never_part() -> None:
    parent = identify(os.getppid())
    assert parent
    assert os.getpid() not in {one.pid for one in tree(parent)}


# -- the ladder


async def test_polite_agent_ends_on_term(begin: Begin) -> None:
    """PAM-RST-004."""
    root = begin(f"echo ready; {SLEEP}")
    ended = await end_tree(root)
    assert (ended.gone, ended.killed, ended.survivors) == (True, False, ())
    assert ended.members == (root,)
    assert ended.took_s < 5
    assert reaped(root)


async def test_whole_family_is_gone_and_the_neighbour_lives(begin: Begin, tmp_path: Path) -> None:
    """FR-32: verified, not assumed."""
    neighbour = begin(f"echo ready; {SLEEP}")
    root = begin(FAMILY)
    child, away = named(tmp_path, "child"), named(tmp_path, "away")
    ended = await end_tree(root)
    assert ended.gone
    assert {root, child, away} <= set(ended.members)
    assert all(map(reaped, (root, child, away)))
    assert liveness(neighbour) == "alive"


async def test_stubborn_tree_is_killed_after_the_grace(begin: Begin) -> None:
    root = begin(f"sh -c \"{STUBBORN}\" & trap '' TERM; echo ready; while :; do sleep 0.1; done")
    ended = await end_tree(root, grace_s=0.3)
    assert (ended.gone, ended.killed) == (True, True)
    assert 0.3 <= ended.took_s < 5
    assert all(map(reaped, ended.members))


async def test_daemon_is_found_and_ended_though_the_agent_is_gone(begin: Begin, tmp_path: Path) -> None:
    root = begin(DAEMON + SLEEP, MARKS)
    daemon = named(tmp_path, "daemon")
    send(root, signal.SIGKILL)
    until(lambda: reaped(root), 5)
    ended = await end_tree(root, marks=MARKS)
    assert ended.gone
    assert daemon in ended.members
    assert reaped(daemon)


async def test_nobody_as_root_ends_what_carries_the_marks(begin: Begin, tmp_path: Path) -> None:
    """A run whose wrapper was never recorded."""
    nobody = ProcessId(0, 0)
    neighbour = begin(f"echo ready; {SLEEP}", MARKS | {"PAM_ATTEMPT": "1"})
    marked = begin(f"echo ready; {SLEEP}", MARKS)
    assert marked.pid  # a child of ours, so beneath pam itself: only what left is looked for by marks
    begin(DAEMON + SLEEP, MARKS)
    daemon = named(tmp_path, "daemon")
    ended = await end_tree(nobody, wrapper=nobody, marks=MARKS)
    assert ended.gone
    assert reaped(daemon)
    assert liveness(neighbour) == "alive"
    assert liveness(marked) == "alive"


async def test_spared_process_and_what_it_runs_are_left_alone(begin: Begin, tmp_path: Path) -> None:
    """The tmux server that an agent happened to start carries the agent's marks, and so do all its panes."""
    root = begin(DAEMON + SLEEP, MARKS)
    server = named(tmp_path, "daemon")
    ended = await end_tree(root, marks=MARKS, spare=[server.pid])
    assert ended.gone
    assert liveness(server) == "alive"


async def test_stopped_agent_hears_term(begin: Begin) -> None:
    root = begin("trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done")
    os.kill(root.pid, signal.SIGSTOP)
    until(lambda: psutil.Process(root.pid).status() == psutil.STATUS_STOPPED, 5)
    ended = await end_tree(root, grace_s=5)
    assert (ended.gone, ended.killed) == (True, False)


async def test_agent_without_a_group_of_its_own_ends_alone(begin: Begin) -> None:
    """Its group is ours: the group is not signalled."""
    root = begin(f"echo ready; {SLEEP}", session=False)
    assert os.getpgid(root.pid) == os.getpgid(0)
    ended = await end_tree(root)
    assert (ended.gone, ended.killed) == (True, False)


async def test_another_process_under_the_pid_is_never_signalled(begin: Begin) -> None:
    process = begin(f"echo ready; {SLEEP}")
    ended = await end_tree(ProcessId(process.pid, process.started + 1), grace_s=0.1, verify_s=0.1)
    assert (ended.gone, ended.killed) == (True, False)
    assert liveness(process) == "alive"


async def test_what_cannot_be_identified_is_named_as_a_survivor(begin: Begin) -> None:
    process = begin(f"echo ready; {SLEEP}")
    ended = await end_tree(ProcessId(process.pid, 0), grace_s=0.05, verify_s=0.05)
    assert not ended.gone
    assert ended.survivors == (ProcessId(process.pid, 0),)
    assert liveness(process) == "alive"


async def test_ladder_does_not_block_the_loop(begin: Begin) -> None:
    """Other hosts and runs go on meanwhile."""
    root = begin(f"echo ready; {STUBBORN}")
    loop, gaps = asyncio.get_running_loop(), [0.0]
    ending = asyncio.create_task(end_tree(root, grace_s=0.5))
    last = loop.time()
    while not ending.done():
        await asyncio.wait([ending], timeout=0.005)
        gaps.append(loop.time() - last)
        last = loop.time()
    assert (await ending).gone
    assert max(gaps) < 0.4

"""The control client against real servers: order, errors, deadlines, and its end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator

import psutil
import pytest

from executor.processes import identify, liveness
from executor.tmux import oneshot
from executor.tmux.commands import sessions
from executor.tmux.commands.words import Command, command
from executor.tmux.control import ControlClient
from executor.tmux.errors import TmuxGone, TmuxRefused, TmuxSilent
from executor.tmux.framing import Notice, SessionsChanged
from tests.support.tmux_server import TmuxSandbox, eventually
from tests.support.waiting import until

GONE = "pam-00000000"


def start_server(sandbox: TmuxSandbox) -> None:
    """A server with its hub and nothing else."""
    oneshot.ensure_server(sandbox.settings, known=None, may_live=lambda: False)


def make_client(sandbox: TmuxSandbox, deadline_s: float = 5.0, seen: list[Notice] | None = None) -> ControlClient:
    """A client that is not connected yet."""
    environment = oneshot.client_environment(os.environ)
    on_notice = seen.append if seen is not None else None
    argv = oneshot.control_argv(sandbox.settings)
    return ControlClient(argv, environment, deadline_s=deadline_s, on_notice=on_notice)


@pytest.fixture
async def client(tmux_sandbox: TmuxSandbox) -> AsyncIterator[ControlClient]:
    """A connected client."""
    start_server(tmux_sandbox)
    made = make_client(tmux_sandbox)
    await made.connect()
    yield made
    await made.close()


def echo(text: str) -> Command:
    """A command that prints ``text``."""
    return command("display-message", "-p", "-t", "=pam-hub:", text)


async def test_pipelined_replies_come_in_order_with_errors_among_them(client: ControlClient) -> None:
    """An error in the middle moves no later reply out of its place."""
    futures = []
    for number in range(300):
        futures.append(client.post(echo(str(number))))
        if number % 3 == 0:
            futures.append(client.post(sessions.kill_session(GONE)))
        if number % 7 == 0:
            futures.append(client.post(command("no-such-command")))
        if number % 5 == 0:
            futures.append(client.post(echo("a").then(sessions.kill_session(GONE)).then(echo("never"))))
    answers = await asyncio.gather(*futures, return_exceptions=True)
    told = [answer[0][0] for answer in answers if isinstance(answer, list)]
    assert told == [str(number).encode() for number in range(300)]
    assert sum(isinstance(answer, TmuxRefused) for answer in answers) == len(futures) - 300


async def test_a_chain_gives_every_reply(client: ControlClient) -> None:
    """``a ; b ; c`` on one line are three replies, and the next command's answer is its own."""
    chain = client.post(echo("a").then(echo("b")).then(echo("c")))
    after = client.post(echo("after"))
    assert await chain == [(b"a",), (b"b",), (b"c",)]
    assert await after == [(b"after",)]


async def test_text_like_tmuxs_own_words_survives(client: ControlClient) -> None:
    """FR-56: rows that start with a percent sign, even a whole end line, are text."""
    text = "%end 1 2 1\n%error 1 2 1\n%exit\n%begin 1 2 1\n%output %1 x\n\n%%\n"
    await client.run(command("set-buffer", "-b", "x", "--", text))
    (shown,) = await client.run(command("show-buffer", "-b", "x"))
    assert [line.decode() for line in shown] == [*text.split("\n")]
    assert await client.run(echo("still in step")) == [(b"still in step",)]


async def test_a_large_text_goes_through_in_one_line(client: ControlClient) -> None:
    """A process's arguments end at 16 KB; a control client's line does not."""
    text = "é~$" * 200_000
    await client.run(command("set-buffer", "-b", "x", "--", text))
    assert await client.run(command("display-message", "-p", "-t", "=pam-hub:", "#{buffer_size}")) == [(b"800000",)]


async def test_notices_are_told(tmux_sandbox: TmuxSandbox) -> None:
    """A session that begins anywhere on the server is heard of."""
    start_server(tmux_sandbox)
    seen: list[Notice] = []
    client = make_client(tmux_sandbox, seen=seen)
    await client.connect()
    tmux_sandbox.tmux("new-session", "-d", "-s", "other", "sleep 1000")
    await eventually(lambda: SessionsChanged() in seen)
    await client.close()


async def test_connecting_without_a_server_starts_none(tmux_sandbox: TmuxSandbox) -> None:
    """Only ``ensure_server`` starts servers: an attach of tmux's own would, with the operator's configuration."""
    client = make_client(tmux_sandbox)
    with pytest.raises(TmuxGone, match="No such file"):
        await client.connect()
    await client.close()
    assert tmux_sandbox.sessions() == set()
    with pytest.raises(TmuxGone, match="No such file"):
        await client.run(echo("x"))


async def test_a_missing_hub_is_told(tmux_sandbox: TmuxSandbox) -> None:
    """The reason of a refused attach is tmux's own."""
    tmux_sandbox.tmux("new-session", "-d", "-s", "pam-hubble", "sleep 1000")
    client = make_client(tmux_sandbox)
    with pytest.raises(TmuxGone, match="can't find session: pam-hub"):
        await client.connect()
    await client.close()


async def test_a_blocked_server_is_noticed_by_the_deadline(tmux_sandbox: TmuxSandbox) -> None:
    """Every command has a deadline; closing does not wait for the server either."""
    start_server(tmux_sandbox)
    client = make_client(tmux_sandbox, deadline_s=0.3)
    await client.connect()
    server = tmux_sandbox.stop_server()
    first, second = client.post(echo("1")), client.post(echo("2"))
    with pytest.raises(TmuxSilent, match=r"display-message within 0.3 s"):
        await first
    with pytest.raises(TmuxSilent):
        await second
    async with asyncio.timeout(3):
        await client.close()
    assert not psutil.pid_exists(client.pid)
    late = make_client(tmux_sandbox, deadline_s=0.3)
    with pytest.raises(TmuxSilent):
        await late.connect()
    await late.close()
    assert not psutil.pid_exists(late.pid)
    tmux_sandbox.continue_server(server)


async def test_kill_server_ends_the_client(client: ControlClient, tmux_sandbox: TmuxSandbox) -> None:
    """FR-67: the end of the server is an answer, not a hang."""
    tmux_sandbox.tmux("kill-server")
    async with asyncio.timeout(3):
        assert isinstance(await client.wait_ended(), TmuxGone)
    with pytest.raises(TmuxGone):
        await client.run(echo("never"))


async def test_killing_the_client_ends_it_at_once(client: ControlClient) -> None:
    """SIGKILL of the client harms nothing and is noticed."""
    os.kill(client.pid, signal.SIGKILL)
    async with asyncio.timeout(3):
        await client.wait_ended()
    with pytest.raises(TmuxGone):
        await client.run(echo("x"))


async def test_closing_leaves_no_child(client: ControlClient, tmux_sandbox: TmuxSandbox) -> None:
    """Neither process nor pipe: threads, descriptors and children are back where they were."""
    children, descriptors = len(psutil.Process().children()), psutil.Process().num_fds()
    for _ in range(5):
        another = make_client(tmux_sandbox)
        await another.connect()
        await another.close()
        await another.close()
    assert len(psutil.Process().children()) == children
    assert psutil.Process().num_fds() == descriptors


DOOMED = """
import asyncio, os, signal, sys
from executor.settings import ExecutorSettings
from executor.tmux import oneshot
from executor.tmux.commands.words import command
from executor.tmux.control import ControlClient

async def main():
    settings = ExecutorSettings(tmux_socket=sys.argv[1])
    client = ControlClient(oneshot.control_argv(settings), os.environ, deadline_s=5)
    await client.connect()
    await client.run(command("set-buffer", "-b", "x", "--", "y" * 50_000))
    print(client.pid, flush=True)
    for _ in range(int(sys.argv[2])):
        client.post(command("show-buffer", "-b", "x"))
    sys.stdin.readline()  # blocks the loop: nothing is read any more
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


@pytest.mark.parametrize("unread", [0, 1, 10])
def test_a_client_dies_with_its_parent(tmux_sandbox: TmuxSandbox, unread: int) -> None:
    """FR-31: control clients end when pam is killed, half a megabyte of unread answers or not, and no session does."""
    start_server(tmux_sandbox)
    argv = [sys.executable, "-c", DOOMED, tmux_sandbox.settings.tmux_socket, str(unread)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        client = identify(int(parent.stdout.readline()))
        assert client is not None
        parent.communicate(b"die\n")
    until(lambda: liveness(client) == "dead", 5)
    assert tmux_sandbox.sessions() == {"pam-hub"}
    tmux_sandbox.tmux("kill-server")
    until(lambda: tmux_sandbox.sessions() == set(), 5)

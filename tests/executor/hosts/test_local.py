"""The local host over real tmux: sessions, their logs, keys, and what happens when things die."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil
import pytest
from ptyprocess import PtyProcess

from app.cli.log_reader import LogReader
from executor.hosts import local_files
from executor.hosts.link import (
    HostLink,
    HostUnanswered,
    LinkDown,
    LinkEvent,
    LinkUp,
    NoSuchSession,
    PaneListing,
    ServerGone,
    SessionExists,
    SessionsChanged,
    SpawnFailed,
    Unknown,
)
from executor.hosts.local import LocalLink
from executor.processes import identify
from executor.wrapper import pam_signal
from store.errors import InvalidValue, TmuxUnavailable
from tests.support.tmux_server import DECOY, TmuxSandbox, eventually, until_answer

RUN = "pam-00112233"
IDLE = "exec sleep 1000"


@pytest.fixture
def events() -> list[LinkEvent]:
    """What the link told, in order."""
    return []


@pytest.fixture
async def link(tmux_sandbox: TmuxSandbox, events: list[LinkEvent]) -> AsyncIterator[LocalLink]:
    """A connected link."""
    made = LocalLink(tmux_sandbox.settings, tmux_sandbox.home, on_event=events.append)
    await made.connect()
    yield made
    await made.close()


async def listed(link: HostLink) -> PaneListing:
    """A listing that must be one."""
    listing = await link.list_panes()
    assert isinstance(listing, PaneListing)
    return listing


async def shows(link: HostLink, where: str, text: str) -> str:
    """The first row that holds ``text``, once there is one."""

    async def row() -> str:
        return next((row for row in await link.capture(where) if text in row), "")

    return await until_answer(row)


async def test_a_spawned_session_is_what_was_asked_for(link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """PAM-TMUX-005, 026, design §4: exactly the hub and the run, 220×50 whatever attaches, logged, titled."""
    wanted = replace(tmux_sandbox.spawn(RUN, 'echo "$WORD"; exec sleep 1000'), title="fix #{pid}", env={"WORD": "é;~"})
    pane = await link.spawn(wanted)
    assert tmux_sandbox.sessions() == {"pam-hub", RUN}
    await shows(link, pane, "é;~")
    (state,) = (await listed(link)).panes
    assert (state.session, state.pane_id, state.columns, state.rows) == (RUN, pane, 220, 50)
    assert (state.dead, state.logged, state.viewers) == (False, True, 0)
    assert tmux_sandbox.tmux("list-windows", "-t", f"={RUN}", "-F", "#{window_name}") == "fix #{pid}"
    log = Path(wanted.log_path)
    await eventually(lambda: log.read_bytes() == "é;~\r\n".encode())
    assert log.stat().st_mode & 0o777 == 0o600


async def test_a_log_is_exact_from_its_first_byte(link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """PAM-OBS-007: raw bytes, none missing, however early they were written. The pane lingers as the wrapper's does:

    tmux before 3.7 may drop what a process wrote just before it ended.
    """
    script = r"seq 1 4000; printf '\033[31mred\033[0m'; exec sleep 1000"
    expected = b"".join(b"%d\r\n" % number for number in range(1, 4001)) + b"\x1b[31mred\x1b[0m"
    spawns = [tmux_sandbox.spawn(f"pam-{number:08x}", script) for number in range(20)]
    await asyncio.gather(*(link.spawn(spawn) for spawn in spawns))
    logs = [Path(spawn.log_path) for spawn in spawns]
    await eventually(lambda: all(log.stat().st_size >= len(expected) for log in logs))
    assert [log.read_bytes() == expected for log in logs] == [True] * 20


async def test_names_are_matched_exactly(link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """PAM-TMUX-022: with only a longer or similar name alive, nothing is hit."""
    other = "pam-0011ffff"
    await link.spawn(tmux_sandbox.spawn(other, "exec cat"))
    tmux_sandbox.tmux("new-session", "-d", "-s", RUN + "44", "cat")
    tmux_sandbox.tmux("new-session", "-d", "-s", "pam-0011", "cat")
    assert await link.kill_session(RUN) is False
    for act in (link.send_keys(RUN, ["x"]), link.paste(RUN, "x", submit=True)):
        with pytest.raises(NoSuchSession):
            await act
    with pytest.raises(NoSuchSession):
        await link.capture(RUN)
    with pytest.raises(InvalidValue):
        await link.kill_session("pam-0011")
    assert tmux_sandbox.sessions() == {"pam-hub", other, RUN + "44", "pam-0011"}
    assert await link.kill_session(other) is True
    assert tmux_sandbox.sessions() == {"pam-hub", RUN + "44", "pam-0011"}
    assert (await listed(link)).panes == ()


async def test_decoys_survive(link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """PAM-TMUX-009, 018, 021, PAM-TEST-011: other sessions on our socket and the whole default server."""
    tmux_sandbox.start_decoys()
    await link.spawn(tmux_sandbox.spawn(RUN, IDLE))
    assert [pane.session for pane in (await listed(link)).panes] == [RUN]
    await link.kill_session(RUN)
    await link.close()
    again = LocalLink(tmux_sandbox.settings, tmux_sandbox.home)
    await again.connect()
    await again.close()
    assert tmux_sandbox.sessions() == {"pam-hub", DECOY}
    assert tmux_sandbox.sessions("default") == {DECOY}


async def test_a_session_that_is_there_is_not_spawned_again(link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """FR-29: the name is the lock."""
    pane = await link.spawn(tmux_sandbox.spawn(RUN, IDLE))
    with pytest.raises(SessionExists):
        await link.spawn(tmux_sandbox.spawn(RUN, IDLE))
    assert (await listed(link)).find(RUN, pane) is not None


async def test_a_missing_directory_is_told_and_nothing_started(link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """tmux would start the agent somewhere else without a word."""
    wanted = replace(tmux_sandbox.spawn(RUN, IDLE), cwd=str(tmux_sandbox.home / "nowhere"))
    with pytest.raises(SpawnFailed, match=r"nowhere does not exist\. Make it"):
        await link.spawn(wanted)
    wanted = replace(tmux_sandbox.spawn(RUN, IDLE), log_path="/proc/nowhere/log")
    with pytest.raises(SpawnFailed, match="log /proc/nowhere/log cannot be written"):
        await link.spawn(wanted)
    assert tmux_sandbox.sessions() == {"pam-hub"}


async def test_a_program_that_is_missing_leaves_a_dead_pane(link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """The pane stays to be looked at, and is seen as dead."""
    await link.spawn(replace(tmux_sandbox.spawn(RUN, ""), argv=("no-such-program",)))

    async def dead() -> bool:
        pane = (await listed(link)).find(RUN)
        return pane is not None and pane.dead

    await until_answer(dead)
    await link.nudge()


async def test_keys_and_prompts_arrive(link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """FR-54, PAM-TMUX-010: keys are pressed, a prompt of several lines is one bracketed paste, Enter is its own."""
    expected = b"abc\r\x7f" + b"\x1b[200~one \xc3\xa9\ntwo[201~;\x1b[201~" + b"\r"
    got = tmux_sandbox.home / "got"
    script = (
        r'stty raw -echo; printf "\033[?2004hready"; head -c "$1" >"$2";'
        "stty sane; echo cooked; cat; echo over; exec cat"
    )
    await link.spawn(tmux_sandbox.spawn(RUN, script, str(len(expected)), str(got)))
    await shows(link, RUN, "ready")
    await link.send_keys(RUN, ["abc", "Enter", "Backspace"])
    await link.paste(RUN, "one é\ntwo\x1b[201~;", submit=True)
    await shows(link, RUN, "cooked")
    assert got.read_bytes() == expected
    await link.send_keys(RUN, ["C-d"])
    await shows(link, RUN, "over")


async def test_a_scrolled_pane_still_gets_its_keys(link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """In copy mode tmux swallows keys."""
    await link.spawn(tmux_sandbox.spawn(RUN, "exec cat"))
    tmux_sandbox.tmux("copy-mode", "-t", f"={RUN}:")
    assert (await listed(link)).panes[0].in_mode
    await link.send_keys(RUN, ["hello", "Enter"])
    await shows(link, RUN, "hello")
    assert not (await listed(link)).panes[0].in_mode


async def test_screens_keep_colour_and_scrollback(link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """PAM-OBS-001: rows as they are on the screen, fifty of them, history above when asked for."""
    await link.spawn(
        tmux_sandbox.spawn(RUN, r"seq 1 100; printf '\033[38;2;1;2;3m%%end x\n\\ $ \\033\n'; exec sleep 1000")
    )
    assert await shows(link, RUN, "%end x") == "\x1b[38;2;1;2;3m%end x\x1b[0m"
    screen = await link.capture(RUN)
    assert len(screen) == 50
    assert screen[-2] == "\x1b[38;2;1;2;3m\\ $ \\033\x1b[0m"
    assert len(await link.capture(RUN, history=10)) == 60
    assert (await link.capture(RUN, history=None))[0] == "1"
    assert tmux_sandbox.tmux("list-buffers") == ""


async def test_a_killed_client_is_replaced(link: LocalLink, tmux_sandbox: TmuxSandbox, events: list[LinkEvent]) -> None:
    """kill -9 of the control client: the link comes back by itself, sessions and server unharmed."""
    await link.spawn(tmux_sandbox.spawn(RUN, IDLE))
    server = link.server
    (client,) = control_clients(tmux_sandbox)
    events.clear()
    os.kill(client, signal.SIGKILL)
    await eventually(lambda: any(isinstance(event, LinkUp) for event in events))
    assert [type(event) for event in events if not isinstance(event, SessionsChanged)] == [LinkDown, LinkUp]
    assert link.server == server
    assert (await listed(link)).find(RUN) is not None
    assert client not in control_clients(tmux_sandbox)


async def test_the_end_of_the_server_is_said_once(
    link: LocalLink, tmux_sandbox: TmuxSandbox, events: list[LinkEvent]
) -> None:
    """FR-67: detected, said, and the host is usable again; the sessions are gone for certain."""
    await link.spawn(tmux_sandbox.spawn(RUN, IDLE))
    for number, kill in enumerate((False, True)):
        old = link.server
        assert old is not None
        events.clear()
        if kill:
            os.kill(old.pid, signal.SIGKILL)
        else:
            tmux_sandbox.tmux("kill-server")
        await eventually(lambda: any(isinstance(event, LinkUp) for event in events))
        assert [event for event in events if isinstance(event, ServerGone)] == [ServerGone(old)]
        assert link.server not in (None, old)
        listing = await listed(link)
        assert (listing.server, listing.panes) == (link.server, ())
        await link.spawn(tmux_sandbox.spawn(f"pam-0000000{number}", IDLE))


async def test_a_server_that_ended_while_nobody_looked_is_said_at_the_next_start(
    tmux_sandbox: TmuxSandbox, events: list[LinkEvent]
) -> None:
    """A changed identity between two executors means the same."""
    first = LocalLink(tmux_sandbox.settings, tmux_sandbox.home)
    old = await first.connect()
    await first.close()
    tmux_sandbox.tmux("kill-server")
    await eventually(lambda: identify(old.pid) is None)
    second = LocalLink(tmux_sandbox.settings, tmux_sandbox.home, on_event=events.append)
    new = await second.connect()
    await second.close()
    third = LocalLink(tmux_sandbox.settings, tmux_sandbox.home, on_event=events.append)
    assert await third.connect() == new
    await third.close()
    assert events == [ServerGone(old), LinkUp(new), LinkUp(new)]


async def test_a_stopped_server_is_unknown_and_then_the_same(
    tmux_sandbox: TmuxSandbox, events: list[LinkEvent]
) -> None:
    """FR-22, PAM-TMUX-024: no answer is Unknown, never an empty listing; no second server; the run is still there."""
    settings = replace(tmux_sandbox.settings, command_timeout_s=0.4)
    link = LocalLink(settings, tmux_sandbox.home, on_event=events.append)
    server = await link.connect()
    await link.spawn(tmux_sandbox.spawn(RUN, IDLE))
    stopped = tmux_sandbox.stop_server()
    assert isinstance(await link.list_panes(), Unknown)
    assert isinstance(await link.list_panes(), Unknown)
    with pytest.raises(HostUnanswered):
        await link.capture(RUN)
    with pytest.raises(HostUnanswered):
        await link.kill_session(RUN)
    assert link.server is None
    tmux_sandbox.continue_server(stopped)
    await eventually(lambda: link.server == server)
    assert (await listed(link)).find(RUN) is not None
    assert not any(isinstance(event, ServerGone) for event in events)
    await link.close()


async def test_a_removed_socket_is_brought_back(link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """FR-24: with the socket gone and the client lost, the same server is found again, not a second one started."""
    await link.spawn(tmux_sandbox.spawn(RUN, IDLE))
    server = link.server
    (client,) = control_clients(tmux_sandbox)
    (tmux_sandbox.directory / f"tmux-{os.getuid()}" / tmux_sandbox.settings.tmux_socket).unlink()
    assert (await listed(link)).find(RUN) is not None  # an open connection does not need the socket
    os.kill(client, signal.SIGKILL)
    await eventually(lambda: link.server is None)
    await eventually(lambda: link.server == server)
    assert tmux_sandbox.sessions() == {"pam-hub", RUN}


async def test_connecting_to_nothing_says_what_to_do(tmux_sandbox: TmuxSandbox) -> None:
    """No tmux: the operator's sentence, at once."""
    link = LocalLink(replace(tmux_sandbox.settings, tmux_bin="no-such-tmux"), tmux_sandbox.home)
    with pytest.raises(TmuxUnavailable, match="Install it"):
        await link.connect()
    await link.close()
    assert link.server is None
    with pytest.raises(HostUnanswered):
        await link.spawn(tmux_sandbox.spawn(RUN, IDLE))


async def test_a_client_of_a_killed_executor_is_swept(tmux_sandbox: TmuxSandbox) -> None:
    """FR-31: what hung on a stopped server when its pam was killed is ended at the next start."""
    first = LocalLink(tmux_sandbox.settings, tmux_sandbox.home)
    await first.connect()
    (client,) = control_clients(tmux_sandbox)
    (record,) = (tmux_sandbox.home / "host" / "clients").iterdir()
    record.rename(record.with_name(f"{record.name.split('.')[0]}.{2**22 + 1}-1"))
    second = LocalLink(tmux_sandbox.settings, tmux_sandbox.home)
    await second.connect()
    await eventually(lambda: client not in control_clients(tmux_sandbox))
    await first.close()
    await second.close()
    assert list((tmux_sandbox.home / "host" / "clients").iterdir()) == []


async def test_closing_leaves_every_session_and_no_child(link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """FR-34, PAM-SCOPE-006: stopping the executor never stops an agent."""
    await link.spawn(tmux_sandbox.spawn(RUN, IDLE))
    await link.close()
    assert tmux_sandbox.sessions() == {"pam-hub", RUN}
    assert control_clients(tmux_sandbox) == []
    assert [child.name() for child in psutil.Process().children() if "tmux" in child.name()] == []


async def test_sessions_that_come_and_go_are_heard(
    link: LocalLink, tmux_sandbox: TmuxSandbox, events: list[LinkEvent]
) -> None:
    """Liveness need not wait for its next round."""
    await link.spawn(tmux_sandbox.spawn(RUN, IDLE))
    await eventually(lambda: SessionsChanged() in events)
    events.clear()
    tmux_sandbox.tmux("kill-session", "-t", f"={RUN}")
    await eventually(lambda: SessionsChanged() in events)


async def test_an_attached_terminal_neither_resizes_nor_stays(link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """FR-46, FR-50, FR-52: the pane keeps its size, ctrl+] lets go, and the end of the session ends the client."""
    await link.spawn(tmux_sandbox.spawn(RUN, "exec cat"))
    for read_only in (False, True):
        argv = link.attach_argv(RUN, read_only=read_only)
        terminals = [PtyProcess.spawn(argv, env=dict(os.environ) | {"TERM": "xterm"}) for _ in range(2)]

        async def attached() -> bool:
            return (await listed(link)).panes[0].viewers == 2

        await until_answer(attached)
        pane = (await listed(link)).panes[0]
        assert (pane.columns, pane.rows) == (220, 50)
        await eventually(partial(read_until, terminals[0], "ctrl+] leaves"))
        if read_only:
            await link.kill_session(RUN)
        else:
            for terminal in terminals:
                terminal.write(b"\x1d")
        for terminal in terminals:
            await eventually(partial(read_until_gone, terminal))
    assert tmux_sandbox.sessions() == {"pam-hub"}


def read_until(terminal: PtyProcess, part: str) -> bool:
    """Whether the client has drawn this."""
    drawn: str | bytes = terminal.read(65536)
    return part in (drawn if isinstance(drawn, str) else drawn.decode("utf-8", "replace"))


def read_until_gone(terminal: PtyProcess) -> bool:
    """Takes what the client draws, so that it can leave; whether it has left."""
    try:
        terminal.read(4096)
    except EOFError:
        return not terminal.isalive()
    return False


BOUND = 32 * 1024
COUNTING = "i=0; while [ $i -lt 12000 ]; do i=$((i+1)); echo line-$i; [ $((i % 200)) = 0 ] && sleep 0.03; done"


async def test_a_long_log_is_rotated_while_it_grows_and_loses_nothing(tmux_sandbox: TmuxSandbox) -> None:
    """A raw log is capped: the old part aside, the rest in a new file, every byte in one of them (PAM-OBS-007)."""
    link = LocalLink(replace(tmux_sandbox.settings, log_max_bytes=BOUND), tmux_sandbox.home)
    await link.connect()
    spawn = tmux_sandbox.spawn(RUN, f"{COUNTING}; exec sleep 1000")
    log, old = Path(spawn.log_path), Path(spawn.log_path + ".1")
    await link.spawn(spawn)
    reader, read = LogReader(log), bytearray()

    def all_of_it() -> bool:
        read.extend(b"".join(reader.new()))
        return read.endswith(b"line-12000\r\n")

    await eventually(all_of_it)
    reader.close()
    assert bytes(read) == b"".join(b"line-%d\r\n" % number for number in range(1, 12_001))
    assert old.stat().st_size < 2 * BOUND
    await eventually(log.exists)
    assert (log.stat().st_mode | old.stat().st_mode) & 0o777 == 0o600
    await link.close()


async def test_files_are_written_whole(link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """Specs hold keys: their mode is right from the first moment, and no half file is ever seen."""
    path = tmux_sandbox.home / "specs" / "a b é.json"
    await link.put_file(str(path), b"one", 0o600)
    await link.put_file(str(path), b"two", 0o600)
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    await link.remove_file(str(path))
    await link.remove_file(str(path))
    assert not path.exists()


async def test_the_spool_is_read_from_anywhere(link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """PAM-SIG-012: by byte offset; a spool that does not exist yet is empty."""
    assert await link.read_spool("1", 0) == b""
    spool = tmux_sandbox.home / "spool" / "1.jsonl"
    spool.parent.mkdir()
    spool.write_bytes(b"one\ntwo\n")
    assert await link.read_spool("1", 4) == b"two\n"
    assert await link.read_spool("1", 0, 3) == b"one"
    assert await link.read_spool("1", 8) == b""


async def test_a_growing_spool_is_noticed(link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """By watchfiles, in a home below a folder that its usual filter hides."""
    home = tmux_sandbox.home / "node_modules" / ".git"
    other = LocalLink(tmux_sandbox.settings, home)
    async with contextlib.aclosing(other.watch_spool()) as changes:
        await anext(changes)
        for number in range(3):
            async with asyncio.timeout(1):
                waiting = asyncio.ensure_future(anext(changes))
                with (home / "spool" / "1.jsonl").open("a") as file:
                    file.write(f"{number}\n")
                await waiting


async def test_a_writer_that_rings_is_heard_without_a_look_at_the_directory(
    link: LocalLink, tmux_sandbox: TmuxSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_files, "_WATCH_STEP_MS", 60_000)
    spool = tmux_sandbox.home / "spool"
    async with contextlib.aclosing(link.watch_spool()) as changes:
        await anext(changes)
        for _ in range(3):
            waiting = asyncio.ensure_future(anext(changes))
            await asyncio.to_thread(pam_signal.append, os.fsencode(spool / "1.jsonl"), lambda: b"{}\n")
            async with asyncio.timeout(2):
                await waiting
    assert [entry.name for entry in spool.iterdir()] == ["1.jsonl"], "the bell is taken down"


async def test_a_file_of_somebody_else_is_changed_as_a_whole(link: LocalLink, tmp_path: Path) -> None:
    """Behind a link, with the rights it had; what its owner wrote meanwhile is not lost."""
    real, linked = tmp_path / "real.json", tmp_path / "linked.json"
    real.write_bytes(b"1")
    real.chmod(0o640)
    linked.symlink_to(real)
    seen: list[bytes | None] = []

    def edit(data: bytes | None) -> bytes | None:
        seen.append(data)
        if len(seen) == 1:
            real.write_bytes(b"22")  # its owner
        return (data or b"") + b"!"

    assert await link.edit_file(str(linked), edit, 0o600)
    assert (seen, real.read_bytes(), linked.is_symlink()) == ([b"1", b"22"], b"22!", True)
    assert real.stat().st_mode & 0o777 == 0o640
    assert not await link.edit_file(str(linked), lambda _: None, 0o600)


async def test_a_file_that_is_not_there_is_made_or_left(link: LocalLink, tmp_path: Path) -> None:
    new = tmp_path / "made" / "new"
    assert not await link.edit_file(str(new), lambda data: data, 0o600)
    assert not new.exists()
    assert await link.edit_file(str(new), lambda data: b"made" if data is None else None, 0o600)
    assert (new.read_bytes(), new.stat().st_mode & 0o777) == (b"made", 0o600)


async def test_an_owner_that_never_stops_writing_is_left_alone(link: LocalLink, tmp_path: Path) -> None:
    busy = tmp_path / "busy"
    busy.write_bytes(b"")

    def edit(data: bytes | None) -> bytes:
        busy.write_bytes((data or b"") + b"x")
        return b"lost?"

    with pytest.raises(OSError, match="keeps writing"):
        await link.edit_file(str(busy), edit, 0o600)
    assert b"lost" not in busy.read_bytes()


async def test_one_installation_has_one_id(link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """PAM-HOST-008: made once, kept, also when two ask at once for the first time."""
    others = [LocalLink(tmux_sandbox.settings, tmux_sandbox.home) for _ in range(8)]
    ids = await asyncio.gather(*(other.instance_id() for other in others))
    assert set(ids) == {await link.instance_id()}
    assert len(ids[0]) == 36


async def test_processes_are_told_apart_and_ended(link: LocalLink) -> None:
    """PAM-RST-004: by pid and start time, the whole tree, verified."""
    with subprocess.Popen(["sh", "-c", "sleep 1000 & wait"], start_new_session=True) as process:
        target = identify(process.pid)
        assert target is not None
        assert await link.liveness(target) == "alive"
        assert await link.liveness(replace(target, started=target.started + 5)) == "dead"
        ended = await link.end_tree(target, grace_s=2)
    assert ended.gone
    assert await link.liveness(target) == "dead"


async def test_the_interpreter_can_run_the_wrapper(link: LocalLink) -> None:
    """An absolute path to a real interpreter that starts isolated; not a shim, not a virtual environment's link."""
    python = await link.find_python()
    code = "import sys, json; print(*sys.version_info[:2])"
    said = subprocess.run([python, "-I", "-S", "-E", "-c", code], capture_output=True, check=True, encoding="ascii")
    assert tuple(map(int, said.stdout.split())) >= (3, 8)
    assert not Path(python).is_symlink()
    assert await link.platform() in ("linux", "macos")


def control_clients(sandbox: TmuxSandbox) -> list[int]:
    """Pids of the control clients on our socket."""
    rows = sandbox.tmux("list-clients", "-F", "#{client_pid} #{client_control_mode}").splitlines()
    return [int(row.split()[0]) for row in rows if row.endswith(" 1")]

"""This machine as a host: processes are started here, tmux is spoken to through one control client that comes back."""

from __future__ import annotations

import asyncio
import functools
import os
import sys
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from pathlib import Path

from executor import processes
from executor.hosts import agents_files
from executor.hosts import local_files as files
from executor.hosts.link import (
    FileState,
    HostUnanswered,
    LinkDown,
    LinkEvent,
    LinkUp,
    LogSize,
    NoSuchSession,
    OnEvent,
    Platform,
    ServerGone,
    SessionExists,
    SessionsChanged,
    Spawn,
    SpawnFailed,
    Unknown,
)
from executor.processes import Ended, Liveness, ProcessId
from executor.settings import ExecutorSettings
from executor.tmux import framing, oneshot
from executor.tmux.channel import Channel
from executor.tmux.client_records import ClientRecords
from executor.tmux.commands import keying, looking, serving, sessions, targets
from executor.tmux.commands.words import Command
from executor.tmux.control import ControlClient, Replies
from executor.tmux.errors import TmuxError, TmuxRefused
from executor.tmux.introductions import changing_sessions
from executor.tmux.panes import NO_SERVER, PaneListing, ServerIdentity, parse_listing
from executor.tmux.rows import captured
from executor.tmux.server_record import ServerRecord
from executor.tmux.version import OLDEST

ENTER_AFTER_S = 0.06
"""Between a paste and its Enter: closer together an agent reads them as one piece of text."""


class LocalLink:
    """The host ``local``; a HostLink. Lives on the event loop that called ``connect``."""

    name = "local"

    def __init__(self, settings: ExecutorSettings, home: Path, *, on_event: OnEvent | None = None) -> None:
        self.home = str(home)
        self._home = home
        self._settings = settings
        self._on_event = on_event
        self._server: ServerIdentity | None = None
        self._record = ServerRecord(home / "host" / "tmux-server.json")
        self._clients = ClientRecords(home / "host" / "clients")
        self._told_gone: ServerIdentity | None = None
        self._told_down: str | None = None
        self._channel = Channel(
            self._open, pause_max_s=settings.reconnect_max_s, on_lost=self._lost, on_failed=self._failed
        )

    @property
    def server(self) -> ServerIdentity | None:
        """The tmux server; None while there is no connection."""
        return self._server if self._channel.up else None

    # -- the connection -------------------------------------------------------------------------------------------

    async def connect(self) -> ServerIdentity:
        """As HostLink says; afterwards the connection comes back by itself."""
        try:
            await self._channel.open()
        except (TmuxError, OSError) as error:
            raise HostUnanswered(f"tmux on this machine does not answer: {error}.") from error
        assert self._server is not None
        return self._server

    async def close(self) -> None:
        """As HostLink says; the control client is gone afterwards."""
        await self._channel.close()

    async def _open(self) -> ControlClient:
        server = await self._find_server()
        client = ControlClient(
            oneshot.control_argv(self._settings),
            oneshot.client_environment(os.environ),
            deadline_s=self._settings.command_timeout_s,
            on_notice=self._notice,
            home=self._home,
        )
        try:
            await client.connect()
            await asyncio.to_thread(self._clients.add, client.pid)
        except BaseException:
            await client.close()
            raise
        self._server, self._told_down = server, None
        self._tell(LinkUp(server))
        return client

    async def _find_server(self) -> ServerIdentity:
        await asyncio.to_thread(self._clients.sweep)
        known = await asyncio.to_thread(self._record.read)
        if known is not None and await asyncio.to_thread(self._record.liveness) == "dead":
            self._tell_gone(known)
        ensure = functools.partial(
            oneshot.ensure_server,
            self._settings,
            known=known,
            may_live=lambda: self._record.liveness() != "dead",
        )
        server = await asyncio.to_thread(ensure)
        if server != known:
            if known is not None:
                self._tell_gone(known)
            await asyncio.to_thread(self._record.write, server)
        return server

    async def _lost(self, client: ControlClient, reason: str | None) -> None:
        await asyncio.to_thread(self._clients.remove, client.pid)
        if reason is not None:
            self._failed(reason)

    def _failed(self, reason: str) -> None:
        if reason != self._told_down:
            self._told_down = reason
            self._tell(LinkDown(reason))

    def _tell_gone(self, server: ServerIdentity) -> None:
        if server != self._told_gone:
            self._told_gone = server
            self._tell(ServerGone(server))

    def _notice(self, notice: framing.Notice) -> None:
        if isinstance(notice, framing.SessionsChanged):
            self._tell(SessionsChanged())

    def _tell(self, event: LinkEvent) -> None:
        if self._on_event is not None:
            self._on_event(event)

    # -- looking --------------------------------------------------------------------------------------------------

    async def list_panes(self) -> PaneListing | Unknown:
        """As HostLink says."""
        try:
            if self._channel.up:
                clock, panes = await self._channel.run(looking.list_panes())
                self._mind_socket()
                return parse_listing(_text(clock), map(_decoded, panes))
            listing = await asyncio.to_thread(oneshot.list_panes, self._settings)
        except oneshot.NoSocket:
            listing = NO_SERVER
        except (TmuxError, ValueError) as error:
            return Unknown(str(error))
        if listing.server is None and await asyncio.to_thread(self._may_have_server):
            return Unknown("tmux says that no server runs, but the one pam knows may live without its socket")
        return listing

    def _may_have_server(self) -> bool:
        """Whether a server that holds sessions of ours may live, though nobody answers on its socket."""
        return self._record.exists() and self._record.liveness() != "dead"

    def _mind_socket(self) -> None:
        """A cleaner of /tmp may remove the socket: an open connection goes on, but nobody could attach any more."""
        if self._server is not None and not oneshot.has_socket(self._settings):
            oneshot.ask_for_socket(self._server)

    async def capture(self, where: str, *, history: int | None = 0) -> tuple[str, ...]:
        """As HostLink says."""
        version = self._server.version if self._server else OLDEST
        command = looking.capture(where, version, buffer=self._channel.buffer, history=history)
        return captured(await self._act(command, where), version)

    async def nudge(self) -> None:
        """As HostLink says."""
        await self._act(serving.nudge(), targets.HUB)

    # -- acting ---------------------------------------------------------------------------------------------------

    async def spawn(self, spawn: Spawn) -> str:
        """As HostLink says."""
        command = sessions.new_session(
            spawn.session,
            spawn.argv,
            cwd=spawn.cwd,
            env=spawn.env,
            log_path=spawn.log_path,
            log_max_bytes=self._settings.log_max_bytes,
            title=spawn.title,
            size=(spawn.columns, spawn.rows),
            mark=spawn.mark,
        )
        await asyncio.to_thread(_prepare, spawn)
        try:
            async with changing_sessions(self._home):
                replies = await self._channel.run(command)
        except TmuxRefused as error:
            if str(error).startswith("duplicate session"):
                raise SessionExists(f"tmux already has a session {spawn.session}.", session=spawn.session) from error
            await self.kill_session(spawn.session)
            raise SpawnFailed(f"tmux made no session {spawn.session}: {error}.", session=spawn.session) from error
        except TmuxError as error:
            raise _unanswered(error) from error
        return _text(replies[0])

    async def kill_session(self, session: str, pane: str | None = None) -> bool:
        """As HostLink says."""
        try:
            async with changing_sessions(self._home):
                await self._act(sessions.kill_session(session, pane), session)
        except NoSuchSession:
            return False
        return True

    async def send_keys(self, where: str, keys: Sequence[str]) -> None:
        """As HostLink says."""
        await self._act(keying.send_keys(where, keys), where)

    async def paste(self, where: str, text: str, *, submit: bool) -> None:
        """As HostLink says."""
        await self._act(keying.paste(where, text, buffer=self._channel.buffer), where)
        if submit:
            await asyncio.sleep(ENTER_AFTER_S)
            await self._act(keying.send_keys(where, ["Enter"]), where)

    async def reopen_log(self, where: str, log_path: str, note: str) -> None:
        """As HostLink says."""
        await self._act(sessions.pipe_to(where, log_path, self._settings.log_max_bytes, note=note), where)

    async def _act(self, command: Command, where: str) -> Replies:
        try:
            return await self._channel.run(command)
        except TmuxRefused as error:
            raise NoSuchSession(f"{where}: {error}.", where=where) from error
        except TmuxError as error:
            raise _unanswered(error) from error

    def attach_argv(self, session: str, *, read_only: bool) -> list[str]:
        """As HostLink says; run it with ``oneshot.client_environment``."""
        return oneshot.attach_argv(self._settings, session, read_only=read_only)

    # -- processes ------------------------------------------------------------------------------------------------

    async def identify(self, pid: int) -> ProcessId | None:
        """As HostLink says."""
        return await asyncio.to_thread(processes.identify, pid)

    async def liveness(self, process: ProcessId) -> Liveness:
        """As HostLink says."""
        return processes.liveness(process)  # takes microseconds; the way to a thread and back takes longer

    async def marked(self, marks: Mapping[str, str]) -> tuple[ProcessId, ...]:
        """As HostLink says."""
        return await asyncio.to_thread(processes.tree, ProcessId(0, 0), marks=marks)

    async def end_tree(
        self,
        process: ProcessId,
        *,
        grace_s: float,
        wrapper: ProcessId | None = None,
        also: Collection[ProcessId] = (),
        marks: Mapping[str, str] | None = None,
    ) -> Ended:
        """As HostLink says; never the tmux server, nor pam itself."""
        spare = {self._server.pid} if self._server else set()
        return await processes.end_tree(process, grace_s=grace_s, wrapper=wrapper, also=also, marks=marks, spare=spare)

    # -- the machine ----------------------------------------------------------------------------------------------

    async def platform(self) -> Platform:
        """As HostLink says."""
        return "macos" if sys.platform == "darwin" else "linux"

    async def instance_id(self) -> str:
        """As HostLink says."""
        return await asyncio.to_thread(files.instance_id, self._home / "host" / "instance-id")

    async def find_python(self) -> str:
        """As HostLink says: the interpreter pam itself runs on, behind any virtual environment's link to it."""
        return await asyncio.to_thread(os.path.realpath, sys.executable)

    async def put_file(self, path: str, data: bytes, mode: int) -> None:
        """As HostLink says."""
        await asyncio.to_thread(files.put, Path(path), data, mode)

    async def real_path(self, path: str) -> str:
        """As HostLink says."""
        return await asyncio.to_thread(os.path.realpath, path)

    async def edit_file(self, path: str, edit: Callable[[bytes | None], bytes | None], mode: int) -> bool:
        """As HostLink says."""
        return await asyncio.to_thread(files.edit, Path(path), edit, mode)

    async def file_state(self, path: str, *, below: Collection[str] = ()) -> FileState | None:
        """As HostLink says."""
        return await asyncio.to_thread(agents_files.state, path, below)

    async def read_file(self, path: str, offset: int, limit: int = 1 << 20, *, below: Collection[str] = ()) -> bytes:
        """As HostLink says."""
        return await asyncio.to_thread(agents_files.read, path, offset, limit, below)

    async def remove_file(self, path: str) -> None:
        """As HostLink says."""
        await asyncio.to_thread(files.remove, Path(path))

    async def measure_log(self, log_path: str) -> LogSize | None:
        """As HostLink says."""
        return await asyncio.to_thread(files.measure, Path(log_path))

    async def forget_run(self, run_id: str) -> None:
        """As HostLink says."""
        await asyncio.to_thread(files.forget_run, self._home, run_id)

    async def spool_generations(self) -> Mapping[str, int]:
        """As HostLink says."""
        return await asyncio.to_thread(files.generations, self._spool)

    async def read_spool(self, generation: str, offset: int, limit: int = 1 << 20) -> bytes:
        """As HostLink says."""
        path = self._spool / f"{generation}.jsonl"
        try:
            return await asyncio.to_thread(files.read, path, offset, limit)
        except BlockingIOError as error:
            raise _held(path) from error

    async def drop_spool(self, generation: str, size: int) -> bool:
        """As HostLink says."""
        path = self._spool / f"{generation}.jsonl"
        try:
            return await asyncio.to_thread(files.drop, path, size)
        except BlockingIOError as error:
            raise _held(path) from error

    def watch_spool(self) -> AsyncGenerator[None, None]:
        """As HostLink says; close the generator when done with it."""
        return files.watch(self._spool)

    @property
    def _spool(self) -> Path:
        return self._home / "spool"


def _prepare(spawn: Spawn) -> None:
    # tmux would start the agent in the home directory instead, and log nothing, without a word.
    if not Path(spawn.cwd).is_dir():
        raise SpawnFailed(f"The working directory {spawn.cwd} does not exist. Make it, or give --cwd.", cwd=spawn.cwd)
    log = Path(spawn.log_path)
    try:
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        log.touch(mode=0o600)
    except OSError as error:
        raise SpawnFailed(f"The log {log} cannot be written: {error.strerror}.", log=str(log)) from error


def _unanswered(error: TmuxError) -> HostUnanswered:
    return HostUnanswered(f"tmux on this machine did not answer: {error}. It may still do what it was asked.")


def _held(path: Path) -> HostUnanswered:
    return HostUnanswered(f"A process holds the lock of {path}, so it cannot be read; one that writes there hangs.")


def _text(lines: Sequence[bytes]) -> str:
    return "\n".join(map(_decoded, lines))


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace")

"""A tmux control-mode client: commands go in one per line, replies come back in order, each with a deadline.

The client is a child process that ends when its standard input does, so it cannot outlive pam (FR-31). It is given
up, never repaired: a missed deadline, a stream out of step or a lost server ends it, and its owner opens another.
A command whose future failed may still have been carried out.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import functools
import os
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from executor.tmux.commands.words import Command
from executor.tmux.errors import TmuxError, TmuxGone, TmuxRefused, TmuxSilent
from executor.tmux.framing import Attached, Exiting, Framer, Notice, OutOfStep, Reply
from executor.tmux.introductions import changing_sessions, introducing

Replies = list[tuple[bytes, ...]]
"""Lines of each reply to one ``Command``, in the order of its parts."""


_LAST_WORDS_S = 0.2
_PIPE_BYTES = 1 << 20
"""Room for output that nobody reads any more; Linux's usual 64 KB holds only a few screens."""


@dataclass(slots=True)
class _Pending:
    command: Command
    future: asyncio.Future[Replies]
    deadline: asyncio.TimerHandle
    replies: Replies = field(default_factory=list)


class ControlClient:
    """One client process. ``connect`` once, ``run`` at will, ``close`` always."""

    def __init__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        *,
        deadline_s: float,
        on_notice: Callable[[Notice], None] | None = None,
        home: Path | None = None,
    ) -> None:
        """``home``: where it waits until it may come and go, beside whoever makes or ends sessions there."""
        self._argv = list(argv)
        self._env = dict(env)
        self._deadline_s = deadline_s
        self._on_notice = on_notice
        self._home = home
        self._framer = Framer()
        self._pending: deque[_Pending] = deque()
        self._process: subprocess.Popen[bytes] | None = None
        self._input: asyncio.WriteTransport | None = None
        self._readers: list[asyncio.BaseTransport] = []
        self._said = b""
        self._exit_reason = ""
        self._open_ends = 2
        self._leaving: asyncio.TimerHandle | None = None
        loop = asyncio.get_running_loop()
        self._attached: asyncio.Future[None] = loop.create_future()
        self._ended: asyncio.Future[TmuxError] = loop.create_future()

    @property
    def pid(self) -> int:
        """Process id of the client; 0 before ``connect``."""
        return self._process.pid if self._process else 0

    @property
    def ended(self) -> bool:
        """Whether it is of no more use."""
        return self._ended.done()

    async def connect(self) -> None:
        """Starts the process and waits until tmux answers it. Raises TmuxGone or TmuxSilent; ``close`` even then."""
        async with introducing(self._home):
            await self._connect()

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        self._process = process = _start(self._argv, self._env)
        self._input, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, process.stdin)
        for take, pipe in ((self._take_error, process.stderr), (self._take_output, process.stdout)):
            transport, _ = await loop.connect_read_pipe(functools.partial(_Reader, take, self._hung_up), pipe)
            self._readers.append(transport)
        try:
            async with asyncio.timeout(self._deadline_s):
                await asyncio.wait((self._attached, self._ended), return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            self._end(TmuxSilent(f"tmux did not answer within {self._deadline_s:g} s"))
        if self._ended.done():
            raise _again(self._ended.result())

    def post(self, command: Command, *, deadline_s: float | None = None) -> asyncio.Future[Replies]:
        """Sends at once and returns the future of the replies; several posts are answered in order."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Replies] = loop.create_future()
        if self._ended.done() or self._input is None:
            future.set_exception(_again(self._ended.result()) if self._ended.done() else TmuxGone("not connected"))
            return future
        limit = self._deadline_s if deadline_s is None else deadline_s
        timer = loop.call_later(limit, self._expire, command, limit)
        self._pending.append(_Pending(command, future, timer))
        self._input.write(command.line.encode("utf-8", "surrogateescape") + b"\n")
        return future

    async def run(self, command: Command, *, deadline_s: float | None = None) -> Replies:
        """The replies to ``command``. Raises TmuxRefused, TmuxSilent or TmuxGone."""
        return await self.post(command, deadline_s=deadline_s)

    async def wait_ended(self) -> TmuxError:
        """Returns, with the reason, once the client is of no more use."""
        return await asyncio.shield(self._ended)

    async def close(self) -> None:
        """Ends the client; afterwards neither its process nor its pipes exist. Safe to repeat."""
        if self._process is None or self._process.returncode is not None:
            self._end(TmuxGone("closed"))
        else:
            async with changing_sessions(self._home):
                self._end(TmuxGone("closed"))
                await asyncio.to_thread(_reap, self._process)
        if self._process is not None:
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                if pipe is not None:
                    pipe.close()

    # -- what the process says ------------------------------------------------------------------------------------

    def _take_error(self, data: bytes) -> None:
        self._said = (self._said + data)[-4096:]

    def _take_output(self, data: bytes) -> None:
        for item in self._framer.feed(data):
            if isinstance(item, Reply):
                self._answer(item)
            else:
                self._notice(item)

    def _hung_up(self) -> None:
        # The process has left or is about to, but its last words may stand in the other pipe.
        self._open_ends -= 1
        if self._ended.done():
            return
        if self._open_ends == 0:
            self._leave()
        elif self._leaving is None:
            # A stopped server holds the pipes of a client that is dead.
            self._leaving = asyncio.get_running_loop().call_later(_LAST_WORDS_S, self._leave)

    def _leave(self) -> None:
        said = self._said.decode("utf-8", "replace").strip()
        self._end(TmuxGone(said or self._exit_reason or "the tmux server closed the connection"))

    def _answer(self, reply: Reply) -> None:
        if not reply.ours:
            # An attach that fails says why in a reply of its own.
            self._exit_reason = self._exit_reason if reply.ok else reply.text
            return
        if not self._pending:
            self._end(TmuxGone("tmux answered a command that was never sent"))
            return
        pending = self._pending[0]
        pending.replies.append(reply.lines)
        if reply.ok and len(pending.replies) < len(pending.command.parts):
            return
        self._pending.popleft()
        pending.deadline.cancel()
        if not pending.future.done():
            if reply.ok:
                pending.future.set_result(pending.replies)
            else:
                pending.future.set_exception(TmuxRefused(reply.text))

    def _notice(self, notice: Notice) -> None:
        if isinstance(notice, Attached) and not self._attached.done():
            self._attached.set_result(None)
        elif isinstance(notice, Exiting):
            self._exit_reason = notice.reason or self._exit_reason
        elif isinstance(notice, OutOfStep):
            self._end(TmuxGone(f"the answers of tmux are out of step at {notice.line!r}"))
        if self._on_notice is not None:
            self._on_notice(notice)

    # -- the end --------------------------------------------------------------------------------------------------

    def _expire(self, command: Command, limit: float) -> None:
        self._end(TmuxSilent(f"tmux did not answer {command.parts[0][0]} within {limit:g} s"))

    def _end(self, reason: TmuxError) -> None:
        if self._ended.done():
            return
        self._ended.set_result(reason)
        if self._leaving is not None:
            self._leaving.cancel()
        for pending in self._pending:
            pending.deadline.cancel()
            if not pending.future.done():
                pending.future.set_exception(_again(reason))
        self._pending.clear()
        if self._input is not None and not self._input.is_closing():
            # Not close(): that would wait for a server that has stopped reading.
            self._input.abort()
        for reader in self._readers:
            reader.close()


class _Reader(asyncio.Protocol):
    def __init__(self, take: Callable[[bytes], None], hung_up: Callable[[], None]) -> None:
        self._take = take
        self._hung_up = hung_up

    def data_received(self, data: bytes) -> None:
        self._take(data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        self._hung_up()


def _start(argv: Sequence[str], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    reading, writing = os.pipe()
    with contextlib.suppress(AttributeError, OSError):  # Linux only, and only as far as the user's quota goes
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=writing,
            stderr=subprocess.PIPE,
            env=env,
            # Its own session: a Ctrl-C in pam's terminal must not reach it.
            start_new_session=True,
            # It holds the reading end too. tmux lets a client go only once all output is written; with pam killed the
            # rest would have no reader, and client and server would wait for each other for ever (FR-31).
            pass_fds=[reading],
        )
    except OSError:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    process.stdout = os.fdopen(reading, "rb", buffering=0)
    return process


def _again(reason: TmuxError) -> TmuxError:
    return type(reason)(str(reason))


def _reap(process: subprocess.Popen[bytes]) -> None:
    # With its input closed a client leaves by itself, unless the server it waits for is stopped. KILL harms no session.
    try:
        process.wait(0.3)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

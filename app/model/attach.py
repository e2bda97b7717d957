"""The attached terminal's part of the model: the lease, and lines to sessions and shells on helpers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from app import attaching
from app.attaching import HEARTBEAT_S
from app.model import starts
from app.model.access import ACTOR, Access
from app.own_command import own_command
from executor.ledger import Ledger
from executor.settings import ExecutorSettings
from executor.terminal import link
from executor.terminal.link import Program, Terminals
from executor.tmux import oneshot
from screens.terminal.line import Dial, Line, Viewer
from store import leases, runs
from store.errors import Conflict, LeaseHeld, NotFound, PamError
from store.records import Run

HISTORY: Final = 2_000
"""Lines that can be looked back at while attached."""


class AttachParts(Access):
    """Implements ``screens.model.attach.AttachModel``."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._terminals = Terminals()

    def close(self) -> None:
        """As ``Access``; helpers end, and with them what runs on them."""
        self._terminals.drop()
        super().close()

    def warm_terminal(self) -> None:
        """As the protocol says."""
        if link.available():
            with suppress(OSError):
                self._terminals.warm()

    async def attach(self, run_id: str, *, force: bool = False) -> LeasedLine | None:
        """As the protocol says."""
        if not link.available():
            return None
        run = await self._with_session(run_id)
        mine = attaching.holder("control room")
        await self._writes.call(attaching.take, run_id, mine, force=force, actor=ACTOR)
        argv = oneshot.writer_argv(self._around.settings, run.session_name)
        return LeasedLine(self._writes, run, mine, self._dial(argv, None), self._around.settings)

    async def attach_command(self, run_id: str, *, force: bool = False, read_only: bool = False) -> Sequence[str]:
        """As the protocol says: pam's own ``run attach``, on the home and the settings of this control room."""
        run = await self._with_session(run_id)
        held = None if force or read_only else await self._reads.call(attaching.in_the_way, run_id)
        if held is not None:
            raise LeaseHeld(f"{held.holder} types into this run.", holder=held.holder)
        home, config = self._around.home.path, self._around.config
        settings = ["--config", str(config)] if config.exists() else []
        flags = ["--force"] * force + ["--read-only"] * read_only
        return own_command("--home", str(home), *settings, "run", "attach", run.id, *flags)

    async def shell(self, directory: str | None = None) -> Dial | None:
        """As the protocol says."""
        if not link.available():
            return None
        there = await asyncio.to_thread(self._at_home) if directory is None else directory
        await asyncio.to_thread(_enter, there)
        return self._dial([os.environ.get("SHELL") or "/bin/sh"], there)

    async def _with_session(self, run_id: str) -> Run:
        run = await self._reads.call(runs.get, run_id)
        if run.pane_id is None or not run.live:
            raise Conflict(f"{run.session_name} has no session to attach to: the run is {run.status}.")
        return run

    def _at_home(self) -> str:
        """Where the operator's shells begin; pam's own home for one who has none."""
        theirs = Path("~").expanduser()
        return str(theirs if theirs.is_dir() else self._around.home.path)

    def _dial(self, argv: Sequence[str], directory: str | None) -> Dial:
        env = oneshot.client_environment(os.environ) | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        program = Program(tuple(argv), env, directory)

        def dial(columns: int, rows: int, viewer: Viewer) -> Line:
            return self._terminals.open(program, columns, rows, viewer)

        return dial


def _enter(directory: str) -> None:
    """Raises NotFound or Conflict where a shell can't begin in a directory."""
    if trouble := starts.missing(directory):
        raise NotFound(f"{trouble} It was moved or removed, and a shell needs one to start in.")
    if not os.access(directory, os.X_OK):
        raise Conflict(f"No shell can start in {directory}: its permissions keep you out.")


class LeasedLine:
    """Implements ``screens.model.attach.Attachment``; the lease is renewed until it is closed or lost."""

    def __init__(self, writes: Ledger, run: Run, mine: str, dial: Dial, settings: ExecutorSettings) -> None:
        self._writes = writes
        self._run = run
        self._settings = settings
        self._lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._beat = asyncio.create_task(self._renew())
        self.holder = mine
        self.dial = dial

    async def history(self) -> Sequence[str]:
        """As the protocol says; nothing where the session can't be seen."""
        with suppress(PamError):
            return await asyncio.to_thread(oneshot.look_back, self._settings, self._run.session_name, HISTORY)
        return ()

    async def look(self) -> None:
        """As the protocol says; a lease that is still held is renewed."""
        try:
            kept = await self._writes.call(leases.renew, self._run.id, self.holder, actor=ACTOR)
            if kept is None and not self._lost.done():
                self._lost.set_result(await self._writes.call(attaching.lost, self._run.id))
        except PamError:
            return  # the store can't be reached now; the lease lasts for several beats

    async def lost(self) -> str:
        """As the protocol says."""
        return await asyncio.shield(self._lost)

    async def close(self) -> None:
        """As the protocol says."""
        self._beat.cancel()
        with suppress(PamError):
            await self._writes.call(leases.release, self._run.id, self.holder, actor=ACTOR)

    async def _renew(self) -> None:
        while not self._lost.done():
            await asyncio.sleep(HEARTBEAT_S)
            await self.look()

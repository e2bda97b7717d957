"""A control client that comes back: when one ends, another is opened, with growing pauses, until the channel closes."""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections.abc import Awaitable, Callable

from executor.tmux.commands.words import Command
from executor.tmux.control import ControlClient, Replies
from executor.tmux.errors import TmuxError, TmuxGone
from store.errors import TmuxUnavailable

_FIRST_PAUSE_S = 0.05
_numbers = itertools.count()


class Channel:
    """Commands to one tmux server through whichever client is open now."""

    def __init__(
        self,
        opener: Callable[[], Awaitable[ControlClient]],
        *,
        pause_max_s: float,
        on_lost: Callable[[ControlClient, str | None], Awaitable[None]],
        on_failed: Callable[[str], None] | None = None,
    ) -> None:
        """``opener`` gives a connected client or raises TmuxError, TmuxUnavailable or OSError.

        ``on_lost`` is awaited with each client that ended and why, None for closed by us; ``on_failed`` is called
        with the reason each time that none could be opened.
        """
        self._opener = opener
        self._pause_max_s = pause_max_s
        self._on_lost = on_lost
        self._on_failed = on_failed
        self._client: ControlClient | None = None
        self._keeper: asyncio.Task[None] | None = None
        self.buffer = f"pam-{os.getpid()}-{next(_numbers)}"
        """A tmux buffer name of this channel alone."""

    @property
    def up(self) -> bool:
        """Whether a client is open."""
        return self._client is not None and not self._client.ended

    async def open(self) -> None:
        """Opens the first client and keeps one open from now on. Raises what the opener raises."""
        self._client = await self._opener()
        self._keeper = asyncio.create_task(self._keep(), name="tmux channel")

    def start(self) -> None:
        """Keeps a client open from now on, whether or not one can be had yet."""
        self._keeper = asyncio.create_task(self._keep(), name="tmux channel")

    def post(self, command: Command) -> asyncio.Future[Replies]:
        """Sends now, answers later; fails with TmuxGone while no client is open."""
        if self._client is None:
            future: asyncio.Future[Replies] = asyncio.get_running_loop().create_future()
            future.set_exception(TmuxGone("not connected"))
            return future
        return self._client.post(command)

    async def run(self, command: Command) -> Replies:
        """The replies to ``command``. Raises TmuxRefused, TmuxSilent or TmuxGone."""
        return await self.post(command)

    async def close(self) -> None:
        """Closes the client and opens no other. Safe to repeat."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
            self._keeper = None
        if self._client is not None:
            client, self._client = self._client, None
            await client.close()
            await self._on_lost(client, None)

    async def _keep(self) -> None:
        pause = 0.0
        while True:
            if self._client is None:
                await asyncio.sleep(pause)
                await self._try_open()
            if self._client is not None and await self._outlive(self._client) >= self._pause_max_s:
                pause = 0.0
            else:
                # A client that lives only briefly is a failure too: without a pause it would be a storm of them.
                pause = min(max(pause * 2, _FIRST_PAUSE_S), self._pause_max_s)

    async def _try_open(self) -> None:
        try:
            self._client = await self._opener()
        except (TmuxError, TmuxUnavailable, OSError) as error:
            if self._on_failed is not None:
                self._on_failed(str(error))

    async def _outlive(self, client: ControlClient) -> float:
        """Waits for the client's end, tells of it, and returns how long the client was of use, in seconds."""
        began = time.monotonic()
        reason = await client.wait_ended()
        await client.close()
        self._client = None
        await self._on_lost(client, str(reason))
        return time.monotonic() - began

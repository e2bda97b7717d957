"""Screens of runs for whoever looks at them, in any pam process, hosting the executor or not.

Nothing is captured that nobody looks at, nothing twice that did not change. One listing a tick covers every pane;
a pane is captured when its activity differs from the last capture's, or may have gone on within the same second. A
source never starts a tmux server.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal, TypedDict, Unpack

from executor.settings import ExecutorSettings
from executor.tmux import oneshot
from executor.tmux.channel import Channel
from executor.tmux.client_records import ClientRecords
from executor.tmux.commands import looking, serving, targets
from executor.tmux.control import ControlClient, Replies
from executor.tmux.errors import TmuxError, TmuxGone, TmuxRefused
from executor.tmux.panes import PaneListing, PaneState, ServerIdentity, parse_identity, parse_listing
from executor.tmux.rows import captured
from executor.tmux.version import OLDEST
from store.clock import utc_now

ScreenState = Literal["live", "dead", "gone", "unreachable"]
"""Running, ended but still on show, no such session, or tmux does not answer."""


STYLE = re.compile(r"\x1b\[[0-9;:]*m")
"""A change of style in a row; a row of nothing else looks empty, though tmux writes the pen's state into it."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The latest screen of a session, whole. Rows of ``gone`` and ``unreachable`` are the last ones seen."""

    session: str
    state: ScreenState
    seq: int
    """Grows with every change of this session's screen."""
    rows: tuple[str, ...] = ()
    """Top first; text with SGR styles, each row standing alone. Scrollback, at least as much as subscribed to and
    there is, stands before the screen."""
    columns: int = 0
    lines: int = 0
    """Rows of the screen itself."""
    cursor: tuple[int, int] | None = None
    """Column and row of the screen, without scrollback; None when hidden."""
    taken_at: datetime | None = None
    """When this content was first seen."""
    note: str = ""
    """Why it is unreachable."""

    def bottom(self, count: int) -> tuple[str, ...]:
        """The last ``count`` rows, not counting blank ones below the last text."""
        end = len(self.rows)
        while end and not STYLE.sub("", self.rows[end - 1]).strip():
            end -= 1
        return self.rows[max(0, end - count) : end]


OnFrame = Callable[[Frame], None]


class Subscription:
    """Somebody looks at a session until ``close``."""

    def __init__(self, source: PaneSource, session: str, on_frame: OnFrame, history: int) -> None:
        self._source = source
        self.session = session
        self.on_frame = on_frame
        self.history = history
        self.served = -1
        """``seq`` of the last frame it was given."""

    def close(self) -> None:
        """No frame comes any more, but for one that is being handed over. From any thread, any number of times."""
        self._source.unsubscribe(self)


@dataclass(slots=True)
class _View:
    frame: Frame
    pane: PaneState | None = None
    captured_at: int = 0
    """Server's clock before the last capture, in seconds."""
    history: int = 0
    changed_at: float = 0.0

    def dirty(self, pane: PaneState, history: int) -> bool:
        """Whether a capture now could differ from the last. ``window_activity`` has whole seconds only."""
        last = self.pane
        return (
            last is None
            or self.frame.state != ("dead" if pane.dead else "live")
            or (pane.pane_id, pane.columns, pane.rows) != (last.pane_id, last.columns, last.rows)
            or pane.activity != last.activity
            or pane.activity >= self.captured_at
            or history != self.history
        )


class _Changes(TypedDict, total=False):
    state: ScreenState
    rows: tuple[str, ...]
    columns: int
    lines: int
    cursor: tuple[int, int] | None
    note: str


class PaneSource:
    """Serves subscriptions while ``run`` runs; ``subscribe`` from any thread."""

    def __init__(self, settings: ExecutorSettings, home: Path) -> None:
        self._settings = settings
        self._home = home
        self._records = ClientRecords(home / "host" / "clients")
        self._lock = threading.Lock()
        self._subscriptions: list[Subscription] = []
        self._views: OrderedDict[str, _View] = OrderedDict()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()
        self._server: ServerIdentity | None = None
        self._down = ""

    def subscribe(self, session: str, on_frame: OnFrame, *, history: int = 0) -> Subscription:
        """Calls ``on_frame`` on the source's thread with the latest frame at once, then with each changed one.

        ``history`` is how many lines of scrollback the rows begin with. Raises InvalidValue for a session not ours.
        """
        subscription = Subscription(self, targets.checked_session(session), on_frame, history)
        with self._lock:
            self._subscriptions.append(subscription)
        self._awake()
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """As ``Subscription.close``."""
        with self._lock:
            if subscription in self._subscriptions:
                self._subscriptions.remove(subscription)

    def latest(self, session: str) -> Frame | None:
        """The last frame of the session, if one is remembered; it may be old."""
        view = self._views.get(session)
        return view.frame if view else None

    async def run(self) -> None:
        """Serves until cancelled; leaves no process behind."""
        self._loop = asyncio.get_running_loop()
        channel = Channel(
            self._open, pause_max_s=self._settings.reconnect_max_s, on_lost=self._lost, on_failed=self._failed
        )
        try:
            await self._somebody_looks()
            channel.start()
            while True:
                await self._somebody_looks()
                await self._tick(channel)
                await self._pause(1 / self._rate())
        finally:
            self._loop = None
            await channel.close()

    # -- when -----------------------------------------------------------------------------------------------------

    def _awake(self) -> None:
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop was closed between the two lines
                loop.call_soon_threadsafe(self._wake.set)

    async def _somebody_looks(self) -> None:
        while not self._watched():
            self._wake.clear()
            if not self._watched():
                await self._wake.wait()

    async def _pause(self, seconds: float) -> None:
        # Counted from the end of the tick: late ticks are left out, never made up for (FR-1).
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return
        self._wake.clear()

    def _rate(self) -> float:
        now = asyncio.get_running_loop().time()
        views = [self._views.get(session) for session in self._watched()]
        lively = any(view is None or now - view.changed_at < self._settings.quiet_after_s for view in views)
        return self._settings.capture_hz if lively else self._settings.quiet_hz

    def _watched(self) -> dict[str, int]:
        """Sessions somebody looks at, with the most scrollback asked for."""
        watched: dict[str, int] = {}
        with self._lock:
            for one in self._subscriptions:
                watched[one.session] = max(one.history, watched.get(one.session, 0))
        return watched

    # -- the connection -------------------------------------------------------------------------------------------

    async def _open(self) -> ControlClient:
        client = ControlClient(
            oneshot.control_argv(self._settings),
            oneshot.client_environment(os.environ),
            deadline_s=self._settings.command_timeout_s,
            home=self._home,
        )
        try:
            await client.connect()
            (identity,) = await client.run(serving.server_identity())
            self._server = _identity(identity)
            await asyncio.to_thread(self._records.add, client.pid)
        except BaseException:
            await client.close()
            raise
        self._down = ""
        self._wake.set()
        return client

    async def _lost(self, client: ControlClient, reason: str | None) -> None:
        await asyncio.to_thread(self._records.remove, client.pid)
        self._failed(reason or "")

    def _failed(self, reason: str) -> None:
        self._down = reason
        self._wake.set()

    # -- a tick ---------------------------------------------------------------------------------------------------

    async def _tick(self, channel: Channel) -> None:
        watched = self._watched()
        try:
            if not channel.up and not self._down:
                return
            clock, rows = await channel.run(looking.list_panes())
            listing = parse_listing(_text(b"\n".join(clock)), map(_text, rows))
            await self._capture_dirty(channel, listing, watched)
        except (TmuxError, ValueError) as error:
            for session in watched:
                self._show(session, state="unreachable", note=self._down or str(error))
        self._serve()

    async def _capture_dirty(self, channel: Channel, listing: PaneListing, watched: dict[str, int]) -> None:
        version = self._server.version if self._server else OLDEST
        wanted: list[tuple[PaneState, asyncio.Future[Replies]]] = []
        for session, history in watched.items():
            pane = listing.find(session)
            if pane is None:
                self._show(session, state="gone", note="")
            elif self._view(session).dirty(pane, history):
                # By its id: the session's active pane may be one that the operator made.
                command = looking.capture(pane.pane_id, version, buffer=channel.buffer, history=history)
                wanted.append((pane, channel.post(command)))
            else:
                self._show(session, cursor=pane.cursor)
        answers = await asyncio.gather(*(replies for _, replies in wanted), return_exceptions=True)
        for (pane, _), replies in zip(wanted, answers, strict=True):
            if isinstance(replies, TmuxRefused):
                self._show(pane.session, state="gone", note="")
            elif isinstance(replies, BaseException):
                raise replies
            else:
                self._seen(pane, captured(replies, version), at=listing.at, history=watched[pane.session])

    def _seen(self, pane: PaneState, rows: tuple[str, ...], *, at: int, history: int) -> None:
        view = self._view(pane.session)
        view.pane, view.captured_at, view.history = pane, at, history
        self._show(
            pane.session,
            state="dead" if pane.dead else "live",
            rows=rows,
            columns=pane.columns,
            lines=pane.rows,
            cursor=pane.cursor,
            note="",
        )

    def _view(self, session: str) -> _View:
        view = self._views.get(session)
        if view is None:
            view = self._views[session] = _View(Frame(session, "unreachable", -1))
            while len(self._views) > max(self._settings.snapshot_cache, len(self._subscriptions)):
                self._views.popitem(last=False)
        self._views.move_to_end(session)
        return view

    def _show(self, session: str, **changes: Unpack[_Changes]) -> None:
        view = self._view(session)
        frame = replace(view.frame, **changes)
        if frame != view.frame or frame.seq < 0:
            view.frame = replace(frame, seq=frame.seq + 1, taken_at=utc_now())
            view.changed_at = asyncio.get_running_loop().time()

    def _serve(self) -> None:
        with self._lock:
            subscriptions = list(self._subscriptions)
        for one in subscriptions:
            view = self._views.get(one.session)
            if view is not None and view.frame.seq > one.served:
                one.served = view.frame.seq
                one.on_frame(view.frame)


def _identity(lines: Sequence[bytes]) -> ServerIdentity:
    """Raises TmuxGone when it cannot be read: then the channel tries again, instead of ending unheard."""
    try:
        return parse_identity(_text(b"\n".join(lines)))
    except ValueError as error:
        raise TmuxGone("the server's answer cannot be read") from error


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")

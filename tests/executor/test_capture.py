"""Live screens: served while looked at, captured only when they may have changed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from executor.capture import Frame, PaneSource, Subscription
from executor.hosts.local import LocalLink
from executor.tmux.commands import looking
from executor.tmux.commands.words import Command
from executor.tmux.panes import ServerIdentity, parse_identity
from store.errors import InvalidValue
from tests.support.tmux_server import TmuxSandbox, eventually

RUN, OTHER = "pam-00112233", "pam-44556677"
ECHO = "stty -echo; while read -r line; do printf '%b\\n' \"$line\"; done"


@dataclass
class Viewer:
    """Keeps what it is shown, and lets a test wait for a frame."""

    frames: list[Frame] = field(default_factory=list)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self, frame: Frame) -> None:
        self.frames.append(frame)
        self._news.set()

    async def until(self, fits: Callable[[Frame], bool], timeout: float = 10.0) -> Frame:
        """The first frame that fits, seen already or still to come."""
        async with asyncio.timeout(timeout):
            while True:
                for frame in self.frames:
                    if fits(frame):
                        return frame
                self._news.clear()
                await self._news.wait()


@contextlib.asynccontextmanager
async def serving(source: PaneSource) -> AsyncIterator[None]:
    """The source at work."""
    task = asyncio.create_task(source.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


@pytest.fixture
async def source(tmux_sandbox: TmuxSandbox) -> AsyncIterator[PaneSource]:
    """A source that serves."""
    made = PaneSource(replace(tmux_sandbox.settings, capture_hz=20), tmux_sandbox.home)
    async with serving(made):
        yield made


def holds(text: str) -> Callable[[Frame], bool]:
    """Whether a live frame shows the text."""
    return lambda frame: frame.state == "live" and any(text in row for row in frame.rows)


async def test_a_screen_is_served_as_it_changes(source: PaneSource, link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """PAM-OBS-002, 008: whole screens, in colour, growing numbers, only when changed."""
    await link.spawn(tmux_sandbox.spawn(RUN, ECHO))
    viewer = Viewer()
    source.subscribe(RUN, viewer)
    first = await viewer.until(lambda frame: frame.state == "live")
    assert (first.columns, first.lines, len(first.rows)) == (220, 50, 50)
    for number in range(3):
        await link.paste(RUN, rf"\0033[3{number}m%end {number}", submit=True)
        frame = await viewer.until(holds(f"\x1b[3{number}m%end {number}"))
    assert frame.bottom(2)[-1] == "\x1b[32m%end 2\x1b[0m"
    assert frame.cursor == (0, 3)
    numbers = [frame.seq for frame in viewer.frames]
    assert numbers == sorted(set(numbers))
    contents = [(frame.state, frame.rows, frame.cursor) for frame in viewer.frames]
    assert all(one != next_one for one, next_one in pairwise(contents))


async def test_the_last_of_many_changes_within_a_second_is_shown(
    source: PaneSource, link: LocalLink, tmux_sandbox: TmuxSandbox
) -> None:
    """facts: activity counts whole seconds, so a change in the second of the last capture must not be missed."""
    await link.spawn(tmux_sandbox.spawn(RUN, r"stty -echo; while read -r line; do printf '\r%s  ' $line; done"))
    viewer = Viewer()
    source.subscribe(RUN, viewer)
    await viewer.until(lambda frame: frame.state == "live")
    for number in range(40):
        await link.send_keys(RUN, [f"n{number}", "Enter"])
        if number % 8 == 0:
            await viewer.until(holds(f"n{number}"))
    await viewer.until(holds("n39 "))


async def test_a_quiet_screen_is_not_captured_again(
    source: PaneSource, link: LocalLink, tmux_sandbox: TmuxSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Observation costs what is looked at and changes: captures stop, listings go on."""
    await link.spawn(tmux_sandbox.spawn(RUN, ECHO))
    captures, listings, quiet = [0], [0], asyncio.Event()
    capture, listing = looking.capture, looking.list_panes
    since = [0]

    def counted_capture(*args: str, **kwargs: object) -> Command:
        captures[0] += 1
        since[0] = listings[0]
        return capture(*args, **kwargs)  # type: ignore[arg-type]

    def counted_listing() -> Command:
        listings[0] += 1
        if captures[0] and listings[0] - since[0] > 30:
            quiet.set()
        return listing()

    monkeypatch.setattr(looking, "capture", counted_capture)
    monkeypatch.setattr(looking, "list_panes", counted_listing)
    viewer = Viewer()
    source.subscribe(RUN, viewer)
    async with asyncio.timeout(15):
        await quiet.wait()
    assert 1 <= captures[0] <= 45
    await link.paste(RUN, "again", submit=True)
    await viewer.until(holds("again"))


async def test_nothing_is_asked_while_nobody_looks(
    source: PaneSource, link: LocalLink, tmux_sandbox: TmuxSandbox
) -> None:
    """A control room without a live pane has no control client of its own; the client stays once there was one."""
    await link.spawn(tmux_sandbox.spawn(RUN, ECHO))
    assert len(clients(tmux_sandbox)) == 1
    viewer = Viewer()
    subscription = source.subscribe(RUN, viewer)
    await viewer.until(lambda frame: frame.state == "live")
    assert len(clients(tmux_sandbox)) == 2
    subscription.close()
    subscription.close()
    seen = len(viewer.frames)
    await link.paste(RUN, "unseen", submit=True)
    other = Viewer()
    source.subscribe(RUN, other)
    await other.until(holds("unseen"))
    assert len(viewer.frames) == seen


async def test_a_second_viewer_has_the_screen_at_once(
    source: PaneSource, link: LocalLink, tmux_sandbox: TmuxSandbox
) -> None:
    """PAM-OBS-008: any number of readers; a new one needs no change on the screen."""
    await link.spawn(tmux_sandbox.spawn(RUN, "seq 1 100; exec sleep 1000"))
    viewers = [Viewer() for _ in range(3)]
    for viewer in viewers:
        source.subscribe(RUN, viewer)
        await viewer.until(holds("100"))
    latest = source.latest(RUN)
    assert latest is not None and holds("100")(latest)
    deep = Viewer()
    source.subscribe(RUN, deep, history=20)
    frame = await deep.until(lambda frame: len(frame.rows) == 70)
    assert frame.rows[-frame.lines :] == latest.rows


async def test_a_session_that_is_not_there_is_gone_and_may_come(
    source: PaneSource, link: LocalLink, tmux_sandbox: TmuxSandbox
) -> None:
    """No such session is a state, told once, with the last screen kept; a run that begins later appears."""
    viewer = Viewer()
    source.subscribe(RUN, viewer)
    await viewer.until(lambda frame: frame.state == "gone")
    await link.spawn(tmux_sandbox.spawn(RUN, "echo here; exec cat"))
    await viewer.until(holds("here"))
    await link.kill_session(RUN)
    gone = await viewer.until(lambda frame: frame.state == "gone" and frame.seq > 0)
    assert gone.rows[0] == "here"
    with pytest.raises(InvalidValue):
        source.subscribe("mine", viewer)


async def test_an_ended_agent_keeps_its_last_screen(
    source: PaneSource, link: LocalLink, tmux_sandbox: TmuxSandbox
) -> None:
    """PAM-OBS-013: capture goes on through hold-open and past it."""
    await link.spawn(tmux_sandbox.spawn(RUN, "echo last words; read -r line"))
    viewer = Viewer()
    source.subscribe(RUN, viewer)
    await viewer.until(holds("last words"))
    await link.send_keys(RUN, ["Enter"])
    dead = await viewer.until(lambda frame: frame.state == "dead")
    assert dead.rows[0] == "last words"


async def test_a_failing_screen_leaves_the_others_alone(
    source: PaneSource, link: LocalLink, tmux_sandbox: TmuxSandbox
) -> None:
    """FR-7, FR-23."""
    await link.spawn(tmux_sandbox.spawn(OTHER, ECHO))
    bad, good = Viewer(), Viewer()
    source.subscribe(RUN, bad)
    source.subscribe(OTHER, good)
    await bad.until(lambda frame: frame.state == "gone")
    await link.paste(OTHER, "fine", submit=True)
    await good.until(holds("fine"))


async def test_a_source_never_starts_a_server(source: PaneSource, tmux_sandbox: TmuxSandbox) -> None:
    """Without a server a viewer is told so, and is served once the executor has started one."""
    viewer = Viewer()
    source.subscribe(RUN, viewer)
    frame = await viewer.until(lambda frame: frame.state == "unreachable")
    assert "No such file" in frame.note
    assert tmux_sandbox.sessions() == set()
    link = LocalLink(tmux_sandbox.settings, tmux_sandbox.home)
    await link.connect()
    await link.spawn(tmux_sandbox.spawn(RUN, "echo here; exec cat"))
    await viewer.until(holds("here"))
    await link.close()


async def test_a_server_that_stops_answering_is_told_and_comes_back(link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """FR-61: the last screen stays, marked; nothing hangs."""
    await link.spawn(tmux_sandbox.spawn(RUN, "echo here; exec cat"))
    source = PaneSource(replace(tmux_sandbox.settings, capture_hz=20, command_timeout_s=0.3), tmux_sandbox.home)
    viewer = Viewer()
    async with serving(source):
        source.subscribe(RUN, viewer)
        await viewer.until(holds("here"))
        stopped = tmux_sandbox.stop_server()
        frame = await viewer.until(lambda frame: frame.state == "unreachable")
        assert "did not answer" in frame.note
        assert frame.rows[0] == "here"
        tmux_sandbox.continue_server(stopped)
        await viewer.until(lambda later: later.state == "live" and later.seq > frame.seq)


async def test_a_killed_client_is_replaced(source: PaneSource, link: LocalLink, tmux_sandbox: TmuxSandbox) -> None:
    """The source's own client may die; its screens go on."""
    await link.spawn(tmux_sandbox.spawn(RUN, ECHO))
    viewer = Viewer()
    before = clients(tmux_sandbox)
    source.subscribe(RUN, viewer)
    await viewer.until(lambda frame: frame.state == "live")
    (own,) = clients(tmux_sandbox) - before
    os.kill(own, signal.SIGKILL)
    await eventually(lambda: len(clients(tmux_sandbox) - before - {own}) == 1)
    await link.paste(RUN, "still here", submit=True)
    await viewer.until(holds("still here"))


async def test_another_thread_may_subscribe(tmux_sandbox: TmuxSandbox, link: LocalLink) -> None:
    """The screens live on a thread of their own; the source's thread is left as it was found."""
    await link.spawn(tmux_sandbox.spawn(RUN, "echo here; exec cat"))
    source = PaneSource(tmux_sandbox.settings, tmux_sandbox.home)
    loop, viewer = asyncio.get_running_loop(), Viewer()

    def deliver(frame: Frame) -> None:
        loop.call_soon_threadsafe(viewer, frame)

    served: list[Subscription] = [source.subscribe(RUN, deliver)]
    stop = threading.Event()

    async def run() -> None:
        task = asyncio.create_task(source.run())
        await asyncio.to_thread(stop.wait, 10)
        task.cancel()
        await asyncio.wait([task])

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    await viewer.until(holds("here"))
    viewer.frames.clear()
    served.append(source.subscribe(RUN, deliver))
    await viewer.until(holds("here"))
    for subscription in served:
        subscription.close()
    stop.set()
    await asyncio.to_thread(thread.join, 10)
    assert not thread.is_alive()
    source.subscribe(RUN, viewer).close()  # after its end it is only silent


async def test_a_source_leaves_nothing_behind(tmux_sandbox: TmuxSandbox, link: LocalLink) -> None:
    """Two hundred looks: descriptors, children and records are back where they were."""
    await link.spawn(tmux_sandbox.spawn(RUN, "echo here; exec cat"))
    children, descriptors = len(psutil.Process().children()), psutil.Process().num_fds()
    source = PaneSource(tmux_sandbox.settings, tmux_sandbox.home)
    async with serving(source):
        for _ in range(200):
            viewer = Viewer()
            subscription = source.subscribe(RUN, viewer)
            await viewer.until(holds("here"))
            subscription.close()
    assert len(psutil.Process().children()) == children
    assert psutil.Process().num_fds() <= descriptors
    assert len(list(Path(tmux_sandbox.home / "host" / "clients").iterdir())) == 1


def clients(sandbox: TmuxSandbox) -> set[int]:
    """Pids of the control clients on our socket."""
    return {int(pid) for pid in sandbox.tmux("list-clients", "-F", "#{client_pid}").splitlines()}


async def test_an_answer_that_cannot_be_read_is_asked_for_again(
    link: LocalLink, tmux_sandbox: TmuxSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever tmux says, the source goes on: a thread that ended unheard would leave every screen frozen."""
    answers = iter([(), (b"tmux: what?",)])

    def garbled(text: str) -> ServerIdentity:
        broken = next(answers, None)
        return parse_identity(text if broken is None else b"\n".join(broken).decode())

    monkeypatch.setattr("executor.capture.parse_identity", garbled)
    await link.spawn(tmux_sandbox.spawn(RUN, "echo here; exec sleep 100"))
    source = PaneSource(replace(tmux_sandbox.settings, capture_hz=20), tmux_sandbox.home)
    viewer = Viewer()
    async with serving(source):
        source.subscribe(RUN, viewer)
        await viewer.until(holds("here"))
    assert next(answers, "asked twice more") == "asked twice more"

"""What real agent CLIs have written stands in our terminal as tmux says it stands in the pane, all the way through.

``tests/support/record_cli.py`` makes the recordings. A pane plays them again, sizes and all.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pytest

from executor.hosts.local import LocalLink
from executor.terminal.link import Terminals, available
from tests.executor.terminal.scenes import scene
from tests.support import replay
from tests.support.tmux_server import TmuxSandbox

pytestmark = pytest.mark.skipif(not available(), reason="no engine for this machine")

RECORDINGS = {path.name.removesuffix(".cast.gz"): path for path in Path(__file__).parent.glob("recordings/*.cast.gz")}
STOPS = 25
STOP_S = 30.0


class Stop(NamedTuple):
    """The recording waits: what it has written so far, and what is to be done before it goes on."""

    written: int
    then: str


class Player:
    """The other end of what plays a recording."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._pipe: asyncio.Future[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Future()

    async def stops(self) -> AsyncIterator[Stop]:
        """Each stop in turn; it goes on when the next is asked for."""
        reader, writer = await asyncio.wait_for(asyncio.shield(self._pipe), STOP_S)
        then = ""
        while then != "end":
            written, _, then = (await asyncio.wait_for(reader.readline(), STOP_S)).decode().rstrip("\n").partition(" ")
            assert written, "what plays the recording is gone before its end"
            yield Stop(int(written), then)
            writer.write(b"\n")

    def met(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """It is there."""
        self._pipe.set_result((reader, writer))

    async def close(self) -> None:
        """Let go of it, wherever it is."""
        if self._pipe.done():
            _, writer = self._pipe.result()
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


@asynccontextmanager
async def player(folder: Path) -> AsyncIterator[Player]:
    """Waits for what plays a recording."""
    made = Player(folder / "player")
    server = await asyncio.start_unix_server(made.met, made.path)
    try:
        yield made
    finally:
        server.close()
        await made.close()
        await server.wait_closed()


def test_there_are_recordings_with_a_resize_in_them() -> None:
    assert set(RECORDINGS) == {"claude", "codex", "gemini", "opencode"}
    for path in RECORDINGS.values():
        assert [event.kind for event in replay.read(str(path))[1]].count("r") == 2


@pytest.mark.parametrize("name", RECORDINGS)
async def test_a_real_cli_is_the_panes(
    name: str, link: LocalLink, tmux_sandbox: TmuxSandbox, terminals: Terminals
) -> None:
    """At every stop, before and after each resize, and at the end."""
    path = str(RECORDINGS[name])
    size, events = replay.read(path)
    screens = []
    async with player(tmux_sandbox.directory) as playing:
        argv = (sys.executable, replay.__file__, path, str(playing.path), str(STOPS))
        shown = await scene(link, tmux_sandbox, terminals, *argv, size=size)
        async for stop in playing.stops():
            await shown.until_read(stop.written)
            await shown.same()
            screens.append(shown.text())
            if "x" in stop.then:
                columns, rows = map(int, stop.then.split("x"))
                await shown.resize(columns, rows)
    assert stop.written == sum(len(event.what.encode()) for event in events if event.kind == "o")
    assert len(set(screens)) > 8, "the same few screens were compared again and again"

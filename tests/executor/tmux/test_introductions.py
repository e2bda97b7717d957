"""No session comes or goes while a control client introduces itself: tmux 3.3a would end, and every agent with it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from executor.capture import PaneSource
from executor.hosts.local import LocalLink
from executor.tmux import introductions
from executor.tmux.introductions import changing_sessions, introducing
from tests.support.tmux_server import TmuxSandbox

AGENTS = 40


async def test_many_share_the_room_and_one_who_comes_in_has_it_alone(tmp_path: Path) -> None:
    story: list[str] = []
    shared = asyncio.Barrier(2)

    async def change(name: str) -> None:
        async with changing_sessions(tmp_path):
            await shared.wait()
            story.append(name)

    async def come() -> None:
        async with introducing(tmp_path):
            story.append("in")
            await asyncio.sleep(0)
            story.append("introduced")

    first = [asyncio.create_task(change(name)) for name in ("one", "two")]
    await asyncio.gather(*first, come())
    assert sorted(story[:2]) == ["one", "two"]
    assert story[2:] == ["in", "introduced"]


async def test_who_hangs_keeps_nobody_out_for_long(tmp_path: Path, monkeypatch: object) -> None:
    monkeypatch.setattr(introductions, "PATIENCE_S", 0.05)  # type: ignore[attr-defined]
    async with introducing(tmp_path), changing_sessions(tmp_path), introducing(tmp_path):
        pass


async def test_a_home_that_takes_no_file_is_no_reason_to_wait(tmp_path: Path) -> None:
    nowhere = tmp_path / "file"
    nowhere.write_text("")
    async with introducing(nowhere), changing_sessions(nowhere):
        pass


async def test_a_server_outlives_clients_that_come_while_sessions_are_made_and_ended(
    tmux_sandbox: TmuxSandbox,
) -> None:
    """Two sources of commands beside each other, as a control room and an executor are."""
    link = LocalLink(tmux_sandbox.settings, tmux_sandbox.home)
    server = await link.connect()
    try:
        done = asyncio.Event()

        async def agents() -> None:
            for number in range(AGENTS):
                spawn = tmux_sandbox.spawn(f"pam-{number:08x}", "sleep 1000")
                await link.spawn(spawn)
                if number % 2:
                    await link.kill_session(spawn.session)
            done.set()

        async def clients() -> None:
            while not done.is_set():
                source = PaneSource(tmux_sandbox.settings, tmux_sandbox.home)
                client = await source._open()
                await client.close()

        await asyncio.gather(agents(), *(clients() for _ in range(3)))
        assert link.server == server
        assert tmux_sandbox.server_pid() == server.pid
    finally:
        await link.close()

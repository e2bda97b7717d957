"""10,000 captures of a full screen leave the tmux server's memory as it was: at most 2 MB more.

Reference: growth when the same screen is captured with ``capture-pane -p`` on a control client, as a naive one does;
tmux before 3.6 keeps every such capture for ever.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil

from executor.hosts.link import Spawn
from executor.hosts.local import LocalLink
from executor.settings import ExecutorSettings
from executor.tmux import oneshot
from executor.tmux.commands.words import command
from executor.tmux.control import ControlClient
from tests.bench.board import quiet_home
from tests.bench.report import Figure

CAPTURES = 10_000
WARM_UP = 500
BOUND_MB = 2.0
SESSION = "pam-0badcafe"


def measure() -> Figure:
    """Growth of the server's resident memory in MB."""
    with quiet_home(1) as quiet:
        return asyncio.run(_measure(quiet.settings, quiet.home.path))


async def _measure(settings: ExecutorSettings, home: Path) -> Figure:
    link = LocalLink(settings, home)
    identity = await link.connect()
    screen = "for i in $(seq 50); do printf '\\033[3%dm%0200d\\033[0m\\n' $((i % 8)) $i; done; exec sleep 1000"
    await link.spawn(Spawn(SESSION, ("bash", "-c", screen), "/", str(home / "log")))
    server = psutil.Process(identity.pid)
    growth = await _growth(server, lambda: link.capture(SESSION))
    await link.close()
    client = ControlClient(oneshot.control_argv(settings), oneshot.client_environment(os.environ), deadline_s=10)
    await client.connect()
    naive = command("capture-pane", "-p", "-e", "-t", f"={SESSION}:")
    reference = await _growth(server, lambda: client.run(naive))
    await client.close()
    return Figure("captures_10000_growth", round(growth, 2), "MB", BOUND_MB, round(reference, 2))


async def _growth(server: psutil.Process, capture: Callable[[], Awaitable[object]]) -> float:
    for _ in range(WARM_UP):
        await capture()
    before = server.memory_info().rss
    for _ in range(CAPTURES):
        await capture()
    return max(0.0, (server.memory_info().rss - before) / 1e6)

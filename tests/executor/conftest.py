"""This machine as a host, with a tmux server of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from executor.hosts.local import LocalLink
from tests.support.tmux_server import TmuxSandbox


@pytest_asyncio.fixture
async def link(tmux_sandbox: TmuxSandbox) -> AsyncIterator[LocalLink]:
    """What makes sessions, and looks at their panes."""
    made = LocalLink(tmux_sandbox.settings, tmux_sandbox.home)
    await made.connect()
    yield made
    await made.close()

"""Terminals of ours, and the host whose panes they show."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from executor.hosts.local import LocalLink
from executor.terminal.link import Terminals
from tests.support.tmux_server import TmuxSandbox


@pytest_asyncio.fixture
async def terminals() -> AsyncIterator[Terminals]:
    """Closed at the end of the test."""
    made = Terminals()
    yield made
    await made.close()


@pytest_asyncio.fixture
async def link(tmux_sandbox: TmuxSandbox) -> AsyncIterator[LocalLink]:
    """This machine, with a tmux server of the test's own."""
    made = LocalLink(tmux_sandbox.settings, tmux_sandbox.home)
    await made.connect()
    yield made
    await made.close()

"""Terminals of ours."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from executor.terminal.link import Terminals


@pytest_asyncio.fixture
async def terminals() -> AsyncIterator[Terminals]:
    """Closed at the end of the test."""
    made = Terminals()
    yield made
    await made.close()

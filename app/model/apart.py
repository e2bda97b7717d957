"""Long work of the executor's kind on an event loop and a thread of its own, so that no key ever waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def apart(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """What ``work`` returns or raises; when the caller is cancelled, so is the work, which cleans up behind itself."""
    begun: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def main() -> T:
        task = asyncio.current_task()
        assert task is not None
        begun.append((asyncio.get_running_loop(), task))
        return await work()

    done = asyncio.get_running_loop().run_in_executor(None, lambda: asyncio.run(main()))
    done.add_done_callback(_heard)
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        for loop, task in begun:
            if not loop.is_closed():
                loop.call_soon_threadsafe(task.cancel)
        raise


def _heard(done: asyncio.Future[Any]) -> None:
    """Its caller may be gone; then nobody else would ask for what it raised."""
    if not done.cancelled():
        done.exception()

"""The store as the executor's event loop sees it: every call runs on one thread of its own, so the loop never waits.

A locked or full database then delays what needs it and nothing else; captures, control clients and ladders go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

from store.database import Store

P = ParamSpec("P")
T = TypeVar("T")

ACTOR = "executor"


class Ledger:
    """Calls verbs of the store on its thread; calls are carried out in the order they were made."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pam-ledger")

    async def call(self, verb: Callable[Concatenate[Store, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """``verb(store, *args, **kwargs)``; raises what it raises."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, partial(verb, self._store, *args, **kwargs))

    def close(self) -> None:
        """Finish what was called, then end the thread."""
        self._thread.submit(self._store.leave_thread)
        self._thread.shutdown(wait=True)

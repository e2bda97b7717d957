"""Asks programs for their version in the background, few at a time, and remembers what they said."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from providers.detection import Detection, detect, sought
from providers.provider import Provider
from store.errors import ProviderUnavailable

AT_ONCE: Final = 2
_Print = tuple[object, ...]
"""What an answer depends on: the program's file, and what the entry says of versions."""


class Detector:
    """One for a control room; lives on its event loop."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[_Print, Detection]] = {}

    async def look(self, providers: Sequence[Provider], *, anew: bool = False) -> AsyncIterator[tuple[str, Detection]]:
        """By name, as they answer; ``anew`` asks those too whose answer is known."""
        loop = asyncio.get_running_loop()
        pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="pam-detect")
        known = {} if anew else dict(self._known)
        try:
            asked = [loop.run_in_executor(pool, _answer, each, known.get(each.name)) for each in providers]
            for answer in asyncio.as_completed(asked):
                name, mark, found = await answer
                self._known[name] = (mark, found)
                yield name, found
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _answer(provider: Provider, known: tuple[_Print, Detection] | None) -> tuple[str, _Print, Detection]:
    mark = _print_of(provider)
    found = known[1] if known is not None and known[0] == mark else detect(provider, os.environ)
    return provider.name, mark, found


def _print_of(provider: Provider) -> _Print:
    try:
        program = sought(provider, os.environ)
        status = Path(program).stat() if program else None
    except (ProviderUnavailable, OSError):
        return ()
    mark = (status.st_ino, status.st_mtime_ns, status.st_size) if status else ()
    return (program, provider.versions, provider.installed_detection, *mark)

"""What the local link needs of this machine's disk: whole files, the spool's bytes, and word that it grew."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
import uuid
from collections.abc import AsyncGenerator
from pathlib import Path

_DIRECTORY_MODE = 0o700
_WATCH_STEP_MS = 20
"""watchfiles looks this often whether anything changed, so a change is told within two steps."""
_WATCH_ANYWAY_MS = 2000
_POLL_MS = 200


def put(path: Path, data: bytes, mode: int) -> None:
    """Writes the file whole or not at all, with ``mode`` from its first moment. Raises OSError."""
    path.parent.mkdir(mode=_DIRECTORY_MODE, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(data)
        draft.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise


def read(path: Path, offset: int, limit: int) -> bytes:
    """Up to ``limit`` bytes from ``offset`` on; empty when there are none, or no file."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(limit)
    except FileNotFoundError:
        return b""


def instance_id(path: Path) -> str:
    """The id kept in this file, made on the first call. Two first calls at once agree. Raises OSError."""
    if not path.exists():
        path.parent.mkdir(mode=_DIRECTORY_MODE, parents=True, exist_ok=True)
        made = uuid.uuid4()
        draft = path.with_name(f".{made}")
        put(draft, f"{made}\n".encode(), 0o600)
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        draft.unlink()
    return path.read_text(encoding="ascii").strip()


def rotate(path: Path, max_bytes: int) -> bool:
    """Moves a file of more than ``max_bytes`` to ``<path>.1``; whoever writes it must open it anew."""
    try:
        if path.stat().st_size <= max_bytes:
            return False
        path.replace(path.with_name(path.name + ".1"))
    except FileNotFoundError:
        return False
    return True


async def watch(directory: Path) -> AsyncGenerator[None, None]:
    """Yields at once, then whenever something in the directory changed, and every two seconds anyway.

    No change is missed while the caller is busy with the one before. Where the kernel gives no more watches, the
    directory is polled five times a second.
    """
    await asyncio.to_thread(directory.mkdir, mode=_DIRECTORY_MODE, parents=True, exist_ok=True)
    # watchfiles wraps the kernel's refusal in a RuntimeError.
    with contextlib.suppress(OSError, RuntimeError):
        async with contextlib.aclosing(_armed(directory, polling=False)) as changes:
            async for _ in changes:
                yield None
    async with contextlib.aclosing(_armed(directory, polling=True)) as changes:
        async for _ in changes:
            yield None


async def _armed(directory: Path, *, polling: bool) -> AsyncGenerator[None, None]:
    """Yields with the watch for the next change already set."""
    async with contextlib.aclosing(_changes(directory, polling=polling)) as changes:
        change = asyncio.ensure_future(anext(changes))
        try:
            await asyncio.sleep(0)  # one step of the loop sets the first watch
            while True:
                yield None
                await asyncio.wait([change])
                change.result()
                change = asyncio.ensure_future(anext(changes))
        finally:
            change.cancel()
            await asyncio.wait([change])


def _changes(directory: Path, *, polling: bool) -> AsyncGenerator[object, None]:
    from watchfiles import awatch  # 20 ms, and only an executor needs it

    return awatch(
        directory,
        # The usual filter hides whatever lies below a directory named .venv or node_modules.
        watch_filter=None,
        debounce=_WATCH_STEP_MS,
        step=_WATCH_STEP_MS,
        rust_timeout=_WATCH_ANYWAY_MS,
        yield_on_timeout=True,
        recursive=False,
        force_polling=polling,
        poll_delay_ms=_POLL_MS,
    )

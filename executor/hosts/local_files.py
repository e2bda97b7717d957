"""What the local link needs of this machine's disk: whole files, the spool's bytes, and word that it grew."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import glob
import os
import stat
import tempfile
import time
import uuid
from collections.abc import AsyncGenerator, Callable, Iterator
from pathlib import Path

from executor.hosts.link import LogSize
from store.bells import Bell

_DIRECTORY_MODE = 0o700
BELL = "bell"
"""In the spool's directory: the pipe that every writer rings after a line."""
_WATCH_STEP_MS = 50
"""watchfiles looks this often whether anything changed: for writers that rang no bell."""
_WATCH_ANYWAY_MS = 2000
_POLL_MS = 200
_LOCK_PATIENCE_S = 2.0
"""A writer holds the lock for less than a millisecond, unless it is stopped in the middle."""
_LOCK_STEP_S = 0.002
_EDITS = 5
"""How often a file is read and changed again, because its owner wrote it meanwhile."""
_CHUNK = 1 << 20


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


def edit(path: Path, change: Callable[[bytes | None], bytes | None], mode: int) -> bool:
    """Changes a file of somebody else's as a whole; whether there was something to change.

    One that its owner writes in the same moment is read and changed again. Raises OSError, and what ``change`` raises.
    """
    for _ in range(_EDITS):
        real = path.resolve()
        before = _fingerprint(real)
        new = change(real.read_bytes() if before else None)
        if new is None:
            return False
        if _fingerprint(real) == before:
            put(real, new, stat.S_IMODE(before[-1]) if before else mode)
            return True
    raise OSError(errno.EBUSY, "somebody else keeps writing it")


def _fingerprint(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_mode


def remove(path: Path) -> None:
    """Removes a file, and the drafts of writers that were killed; one that is not there is fine. Raises OSError."""
    path.unlink(missing_ok=True)
    for draft in path.parent.glob(f".{glob.escape(path.name)}.*"):
        draft.unlink(missing_ok=True)


def generations(directory: Path) -> dict[str, int]:
    """The spool's generations that are there, the oldest first, with the bytes in each."""
    found: dict[str, int] = {}
    with contextlib.suppress(FileNotFoundError), os.scandir(directory) as entries:
        for entry in entries:
            number, dot, rest = entry.name.partition(".")
            if dot and rest == "jsonl" and number.isdecimal() and number == str(int(number)):
                with contextlib.suppress(FileNotFoundError):
                    found[number] = entry.stat().st_size
    return dict(sorted(found.items(), key=lambda one: int(one[0])))


def read(path: Path, offset: int, limit: int) -> bytes:
    """Up to ``limit`` bytes from ``offset`` on; empty when there are none, or no file.

    Under the writers' lock: what a full disk makes a writer take back is never read. Raises BlockingIOError when the
    lock is not to be had.
    """
    try:
        with path.open("rb") as file:
            _lock(file.fileno(), fcntl.LOCK_SH)
            file.seek(offset)
            return file.read(limit)
    except FileNotFoundError:
        return b""


def drop(path: Path, size: int) -> bool:
    """Removes the file if it has ``size`` bytes; whether it is gone. Raises OSError, as ``read`` does when locked.

    Under the writers' lock: a writer that waits for it finds the file gone and begins a new one.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        _lock(descriptor, fcntl.LOCK_EX)
        found = os.fstat(descriptor)
        if found.st_size != size or not found.st_nlink:
            return False
        path.unlink()
        return True
    finally:
        os.close(descriptor)


def _lock(descriptor: int, kind: int) -> None:
    """Take the lock that every writer of a spool holds while it appends, released with the descriptor."""
    deadline = time.monotonic() + _LOCK_PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_LOCK_STEP_S)
        else:
            return


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


def set_aside(path: Path) -> Path:
    """Where the older part of a log is."""
    return path.with_name(path.name + ".1")


def measure(path: Path) -> LogSize | None:
    """Bytes and lines of a log and its older part; None when neither is there."""
    size = lines = 0
    parts = [part for part in (set_aside(path), path) if part.exists()]
    for part in parts:
        with contextlib.suppress(FileNotFoundError), part.open("rb") as file:
            while chunk := file.read(_CHUNK):
                size += len(chunk)
                lines += chunk.count(b"\n")
    return LogSize(size, lines, rotated=set_aside(path) in parts) if parts else None


def forget_run(home: Path, run_id: str) -> None:
    """Removes raw log, specs, long prompts and signal counters of a run; what is not there is fine. Raises OSError."""
    log = home / "runs" / f"{run_id}.log"
    kept = {"specs": f"{run_id}-*.json", "prompts": f"{run_id}-*.md", "spool/seq": f"{run_id}-*"}
    by_attempt = [path for folder, pattern in kept.items() for path in (home / folder).glob(pattern)]
    for path in (log, set_aside(log), *by_attempt):
        path.unlink(missing_ok=True)


async def watch(directory: Path) -> AsyncGenerator[None, None]:
    """Yields at once, then whenever the bell rang or something in the directory changed, and every two seconds anyway.

    No change is missed while the caller is busy with the one before. Where the kernel gives no more watches, the
    directory is polled five times a second.
    """
    await asyncio.to_thread(directory.mkdir, mode=_DIRECTORY_MODE, parents=True, exist_ok=True)
    with _heard(directory / BELL) as rang:
        # watchfiles wraps the kernel's refusal in a RuntimeError.
        with contextlib.suppress(OSError, RuntimeError):
            async with contextlib.aclosing(_armed(directory, rang, polling=False)) as changes:
                async for _ in changes:
                    yield None
        async with contextlib.aclosing(_armed(directory, rang, polling=True)) as changes:
            async for _ in changes:
                yield None


@contextlib.contextmanager
def _heard(path: Path) -> Iterator[asyncio.Event]:
    """Set whenever the bell rings; never where none can be hung."""
    rang = asyncio.Event()
    try:
        bell = Bell(path)
    except OSError:
        yield rang
        return

    def hear() -> None:
        if bell.heard():
            rang.set()

    loop = asyncio.get_running_loop()
    with contextlib.closing(bell):
        loop.add_reader(bell, hear)
        try:
            yield rang
        finally:
            loop.remove_reader(bell)


async def _armed(directory: Path, rang: asyncio.Event, *, polling: bool) -> AsyncGenerator[None, None]:
    """Yields with the watch for the next change already set."""
    async with contextlib.aclosing(_changes(directory, polling=polling)) as changes:
        change = asyncio.ensure_future(anext(changes))
        ring = asyncio.ensure_future(rang.wait())
        try:
            await asyncio.sleep(0)  # one step of the loop sets the first watch
            while True:
                yield None
                await asyncio.wait([change, ring], return_when=asyncio.FIRST_COMPLETED)
                if ring.done():
                    rang.clear()
                    ring = asyncio.ensure_future(rang.wait())
                if change.done():
                    change.result()
                    change = asyncio.ensure_future(anext(changes))
        finally:
            change.cancel()
            ring.cancel()
            await asyncio.wait([change, ring])


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

"""What the control room remembers of itself: one JSON file in the home, written whole or not at all.

Two control rooms may write at once; each holds a lock while it reads the file, changes its one key and replaces the
file, so that neither loses what the other remembered. A reader needs no lock: it sees one whole file or the other.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.model.access import Access
from store.errors import InvalidValue, StoreUnavailable
from store.home import FILE_MODE

NAME = "room.json"

log = logging.getLogger("pam.memory")


class MemoryParts(Access):
    """Implements ``screens.model.memory.MemoryModel``."""

    async def recall(self, key: str) -> object | None:
        """As the protocol says."""
        return (await asyncio.to_thread(read, self._around.home.path / NAME, tell=True)).get(key)

    async def remember(self, key: str, value: object) -> None:
        """As the protocol says."""
        await asyncio.to_thread(change, self._around.home.path / NAME, key, value)


def read(path: Path, *, tell: bool = False) -> dict[str, object]:
    """Everything that is remembered; a file that is missing, unreadable or damaged remembers nothing.

    With ``tell`` the log says that it is damaged.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        found = error
    if not isinstance(found, dict):
        if tell:
            log.warning("%s is damaged and remembers nothing: %s", path, found)
        return {}
    return found


def change(path: Path, key: str, value: object) -> None:
    """Set one key, or take it out where ``value`` is None. Raises StoreUnavailable, or InvalidValue for no JSON."""
    try:
        with _alone(path):
            known = read(path)
            if known.get(key) == value:
                return
            known[key] = value
            _replace(path, json.dumps({name: each for name, each in known.items() if each is not None}, indent=1))
    except OSError as error:
        raise StoreUnavailable(
            f"{path} cannot be written: {error.strerror}. What you see is as it was; it is forgotten when pam ends.",
            path=str(path),
        ) from error
    except (TypeError, ValueError) as error:
        raise InvalidValue(f"{key} cannot be remembered: {error}.", key=key) from error


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Nobody else changes the file meanwhile; the lock goes with whoever holds it, however it ends."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _replace(path: Path, text: str) -> None:
    descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), FILE_MODE)
            file.write(text + "\n")
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise

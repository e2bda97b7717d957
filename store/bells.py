"""Bells between the processes of one machine: who has written something rings, and who waits for it sleeps until then.

A bell is a named pipe that one process listens on. It carries no news, only that there is some: whoever hears it looks
for himself, and looks now and then without it, as a ring can be lost with the process that was about to give it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import stat
import threading
import uuid
from pathlib import Path

ENOUGH = 4096


class Bell:
    """A bell to listen on. ``path`` is where others find it; None makes one that only this process can ring."""

    def __init__(self, path: Path | None = None) -> None:
        """Raises OSError where no named pipe can be made. One that a process left there before is replaced."""
        self.path = path
        self._lock = threading.Lock()
        self._open = True
        if path is None:
            self._hear, self._tell = os.pipe()
            os.set_blocking(self._hear, False)
            os.set_blocking(self._tell, False)
            return
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Others take away a bell that nobody hears, so it is hung up only when it is listened to.
        draft = path.with_name(f".{uuid.uuid4()}")
        os.mkfifo(draft, 0o600)
        try:
            self._hear = self._tell = os.open(draft, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise

    @classmethod
    def among(cls, directory: Path | None) -> Bell:
        """A bell of its own in a directory whose bells are rung together; a private one where there can be none."""
        if directory is not None:
            with contextlib.suppress(OSError):
                return cls(directory / f"{os.getpid()}-{uuid.uuid4().hex[:8]}")
        return cls()

    def fileno(self) -> int:
        """To wait for in an event loop; readable when it rang."""
        return self._hear

    def ring(self) -> None:
        """From any thread; rung often before it is heard, it is heard once."""
        with self._lock, contextlib.suppress(BlockingIOError):  # so often already that the pipe is full
            if self._open:
                os.write(self._tell, b"!")

    def wait(self, timeout_s: float) -> bool:
        """Until it rings, ``timeout_s`` seconds at most; whether it rang since it was last heard."""
        poll = select.poll()
        poll.register(self._hear, select.POLLIN)
        return bool(poll.poll(timeout_s * 1000)) and self.heard()

    def heard(self) -> bool:
        """Take note of every ring so far; whether there was one."""
        rang = False
        with contextlib.suppress(BlockingIOError):
            while os.read(self._hear, ENOUGH):
                rang = True
        return rang

    def close(self) -> None:
        """Take the bell down; safe to repeat, and while others ring it."""
        with self._lock:
            if not self._open:
                return
            self._open = False
            if self.path is not None:
                self.path.unlink(missing_ok=True)
            for descriptor in {self._hear, self._tell}:
                os.close(descriptor)


def ring_all(directory: Path) -> None:
    """Ring every bell there; those whose listener is gone are removed. Never raises for one that cannot be rung."""
    with contextlib.suppress(FileNotFoundError), os.scandir(directory) as entries:
        for entry in entries:
            if not entry.name.startswith(".") and stat.S_ISFIFO(entry.stat(follow_symlinks=False).st_mode):
                _ring(entry.path)


def _ring(path: str) -> None:
    try:
        bell = os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:
            with contextlib.suppress(OSError):
                Path(path).unlink()
        return
    try:
        os.write(bell, b"!")
    except OSError:
        pass  # full: it rings anyway; or its listener has just left
    finally:
        os.close(bell)

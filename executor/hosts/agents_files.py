"""Files that agents' programs keep for themselves, read with care: the path comes from a program, not from us.

Read is a regular file of the user's own, below the home or a directory that was named; nothing else is even opened.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from executor.hosts.link import FileState

_KERNELS = ("/proc", "/sys", "/dev")
"""What looks like a file there is none."""


def state(path: str, below: Collection[str]) -> FileState | None:
    """As ``HostLink.file_state`` says."""
    with _opened(path, below) as descriptor:
        if descriptor is None:
            return None
        found = os.fstat(descriptor)
        return FileState(found.st_size, f"{found.st_dev}:{found.st_ino}")


def read(path: str, offset: int, limit: int, below: Collection[str]) -> bytes:
    """As ``HostLink.read_file`` says."""
    with _opened(path, below) as descriptor:
        return b"" if descriptor is None else os.pread(descriptor, limit, offset)


@contextmanager
def _opened(path: str, below: Collection[str]) -> Iterator[int | None]:
    real = _allowed(path, below)
    try:
        # Without O_NONBLOCK a pipe put there meanwhile would hold us until somebody writes to it.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(real, flags) if real is not None else None
    except OSError:
        descriptor = None
    if descriptor is None:
        yield None
        return
    try:
        found = os.fstat(descriptor)
        yield descriptor if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() else None
    finally:
        os.close(descriptor)


def _allowed(path: str, below: Collection[str]) -> Path | None:
    """The file behind the path, if it may be read."""
    if not path.startswith("/") or "\0" in path:
        return None
    try:
        real = Path(path).resolve()
        roots = [Path(root).expanduser().resolve() for root in ("~", *below) if root.startswith(("~", "/"))]
    except (OSError, RuntimeError):
        return None
    if any(real.is_relative_to(kernel) for kernel in _KERNELS):
        return None
    return real if any(real.is_relative_to(root) for root in roots) else None

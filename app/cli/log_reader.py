"""Reads a raw log from its first byte that is kept, on to whatever file it goes on in when it is rotated."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

CHUNK = 64 * 1024
TRIES = 5
"""Looks for the next file; a log is not rotated as often as this while one is opened."""


class LogReader:
    """Goes from ``<log>.1`` to ``<log>``, and from each to the one after it; ``close`` it."""

    def __init__(self, path: Path, *, last: int | None = None) -> None:
        """``last``: begin that many bytes before the end; None: at the first."""
        self.skipped = 0
        """Bytes that were passed over for that."""
        self._last = last
        self._path = path
        self._older = path.with_name(path.name + ".1")
        self._file: BinaryIO | None = None

    def new(self) -> Iterator[bytes]:
        """What was written since the last time; a file that was rotated away is complete (``sessions.pipe_to``)."""
        if self._file is None:
            self._file = self._begin()
        while self._file is not None:
            left_behind = self._left_behind(self._file)
            while chunk := self._file.read(CHUNK):
                yield chunk
            if not left_behind:
                return
            following = self._following(self._file)
            if following is None:
                return
            self._file.close()
            self._file = following

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def _begin(self) -> BinaryIO | None:
        older, now = _stat(self._older), _stat(self._path)
        sizes = (older.st_size if older else 0, now.st_size if now else 0)
        self.skipped = max(sum(sizes) - self._last, 0) if self._last is not None else 0
        passed = self.skipped >= sizes[0]
        file = None if passed and self.skipped else _opened(self._older)
        file = file or _opened(self._path)
        if file is not None and self.skipped:
            file.seek(self.skipped - (sizes[0] if passed else 0))
        return file

    def _left_behind(self, file: BinaryIO) -> bool:
        now = _stat(self._path)
        return now is not None and now.st_ino != os.fstat(file.fileno()).st_ino

    def _following(self, file: BinaryIO) -> BinaryIO | None:
        """The file that goes on where this one ends: after two rotations meanwhile it is the older of the two there."""
        for _ in range(TRIES):
            ours, older = os.fstat(file.fileno()), _stat(self._older)
            skipped = older is not None and older.st_ino != ours.st_ino and older.st_mtime_ns >= ours.st_mtime_ns
            found = _opened(self._older if skipped else self._path)
            after = _stat(self._older)
            if found is not None and (after and after.st_ino) == (older and older.st_ino):
                return found
            if found is not None:
                found.close()  # rotated once more while it was opened
        return None


def _opened(path: Path) -> BinaryIO | None:
    try:
        return path.open("rb")
    except FileNotFoundError:
        return None


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None

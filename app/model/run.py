"""The run place's part of the model: the raw log in pieces, its export, and going on with a conversation."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from copy import copy
from pathlib import Path
from typing import Final

from app.cli.log_reader import LogReader
from app.cli.plain_log import PlainLog
from app.model.access import ACTOR, Access
from screens.model.run import LogPiece
from store import runs
from store.errors import Conflict, InvalidValue, NotFound
from store.home import FILE_MODE
from store.records import Run

SHOWN: Final = 4 * 1024 * 1024
"""Bytes at the end of a log that are shown; all of it is for a file."""
PIECE: Final = 4
"""Chunks of 64 KiB that are made into lines at a time: some 50 ms of work."""
LOOK_S: Final = 0.25
"""How often a log that is looked at is asked whether it grew; nothing tells."""


class RunParts(Access):
    """Implements ``screens.model.run.RunModel``."""

    async def log(self, run_id: str) -> AsyncIterator[LogPiece]:
        """As the protocol says."""
        feed = _Feed(self._log_of(run_id))
        try:
            yield await asyncio.to_thread(feed.first)
            while True:
                piece = await asyncio.to_thread(feed.more)
                if piece is None:
                    await asyncio.sleep(LOOK_S)
                else:
                    yield piece
        finally:
            feed.close()

    async def export_log(self, run_id: str, path: str) -> int:
        """As the protocol says."""
        return await asyncio.to_thread(_export, self._log_of(run_id), path)

    async def resume_run(self, run_id: str, prompt: str = "") -> Run:
        """As the protocol says."""
        old = await self._reads.call(runs.get, run_id)
        if not self._around.catalog().get(old.provider).conversation.resume:
            raise Conflict(f"{old.provider} can't go on with a conversation. Start anew instead.")
        return await self._writes.call(runs.resume, run_id, prompt=prompt or None, actor=ACTOR)

    def _log_of(self, run_id: str) -> Path:
        return self._around.home.path / "runs" / f"{run_id}.log"


class _Feed:
    """A log as pieces; used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._reader = LogReader(path, last=SHOWN)
        self._plain = PlainLog()
        self._chunks: Iterator[bytes] = iter(())

    def first(self) -> LogPiece:
        """How it begins."""
        piece = self.more() or LogPiece()
        if not self._reader.skipped:
            return piece
        # It begins in the middle of a line.
        return LogPiece(piece.lines[1:], piece.rest, self._reader.skipped, piece.more)

    def more(self) -> LogPiece | None:
        """What has come since; None when nothing has."""
        data = b"".join(self._some())
        if not data:
            return None
        lines = self._plain.take(data).split("\n")[:-1]
        return LogPiece(lines, copy(self._plain).rest().rstrip("\n"), more=len(data) > 64 * 1024)

    def close(self) -> None:
        """Let go of the file."""
        self._reader.close()

    def _some(self) -> Iterator[bytes]:
        for _ in range(PIECE):
            chunk = next(self._chunks, b"")
            if not chunk:
                self._chunks = self._reader.new()
                chunk = next(self._chunks, b"")
            if not chunk:
                return
            yield chunk


def _export(log: Path, path: str) -> int:
    """Written whole or not at all, and never over another file."""
    with closing(LogReader(log)) as reader:
        chunks = reader.new()
        first = next(chunks, b"")
        if not first:
            raise NotFound("There is no log: the run has written nothing yet, or its host keeps it.")
        target = _target(path)
        try:
            return _write(target, first, chunks)
        except FileExistsError:
            raise Conflict(f"There is a file {target} already. Give another name.", path=str(target)) from None
        except OSError as error:
            raise InvalidValue(f"{target} can't be written: {error.strerror}.", field="path") from error


def _target(path: str) -> Path:
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError as error:
        raise InvalidValue(f"{path} can't be a file: {error}.", field="path") from None


def _write(target: Path, first: bytes, chunks: Iterator[bytes]) -> int:
    plain, size = PlainLog(), 0
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            size += file.write(plain.take(first).encode())
            for chunk in chunks:
                size += file.write(plain.take(chunk).encode())
            return size + file.write(plain.rest().encode())
    except BaseException:
        target.unlink(missing_ok=True)
        raise

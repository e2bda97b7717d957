"""What the page of a run asks for beside the run itself: its raw log, and to go on with its conversation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from store.records import Run


@dataclass(frozen=True, slots=True)
class LogPiece:
    """Some more of a log, as lines of text: no escape sequence is left in them."""

    lines: Sequence[str] = ()
    """Those that were completed."""
    rest: str = ""
    """The last line, which nothing has ended yet; it takes the place of the one before."""
    skipped: int = 0
    """Bytes before the first line that are left out, because the log is long."""
    more: bool = False
    """Whether there is more to read at once."""


class RunModel(Protocol):
    """Reads and verbs of the run place."""

    def log(self, run_id: str) -> AsyncIterator[LogPiece]:
        """The last few MiB of what a run has written, piece by piece, and what is written then; ends never.

        The first piece comes at once, and has no lines where nothing was written.
        """

    async def export_log(self, run_id: str, path: str) -> int:
        """Write all of the log to a new file, as lines of text; how many bytes that made.

        Raises NotFound where there is no log, Conflict where there is a file already, InvalidValue for a path that
        can't be written.
        """

    async def resume_run(self, run_id: str, prompt: str = "") -> Run:
        """A pending run that goes on with the conversation of one that ended; without a prompt its agent waits for one.

        Raises Conflict with the reason when nobody can.
        """

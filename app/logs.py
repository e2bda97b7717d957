"""pam's own log: ``logs/pam.log`` in the home, rotated, readable by its owner alone, and free of keys and tokens.

``[log]`` of config.toml, or ``PAM_LOG`` and ``PAM_LOG_FORMAT``, say how much is told and how (PAM-LOG-003).
"""

from __future__ import annotations

import fcntl
import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler

from app.log_burst import Burst
from app.log_lines import JsonLines, TextLines
from app.log_settings import LogSettings, from_environment
from store.home import DIRECTORY_MODE, FILE_MODE, Home
from store.redaction import Redactor

_FORMATTERS = {"text": TextLines, "json": JsonLines}


def start_log(
    home: Home,
    environ: Mapping[str, str],
    *,
    settings: LogSettings | None = None,
    secrets: Iterable[str] = (),
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Send pam's records to the log of ``home``; once is enough, again replaces it.

    Without ``settings`` the environment counts. Raises OSError.
    """
    settings = settings or from_environment(environ)
    home.log.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
    root = logging.getLogger()
    for old in [handler for handler in root.handlers if isinstance(handler, PrivateFile)]:
        root.removeHandler(old)
        old.close()
    handler = PrivateFile(home, settings, clock)
    handler.setFormatter(_FORMATTERS[settings.format](Redactor(environ, secrets)))
    root.addHandler(handler)
    logging.getLogger("watchfiles").setLevel(logging.WARNING)  # it tells of every change it sees
    root.setLevel(settings.level.upper())


class PrivateFile(RotatingFileHandler):
    """A log file of the owner's that several pam processes share."""

    def __init__(self, home: Home, settings: LogSettings, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._burst = Burst()
        super().__init__(
            home.log, maxBytes=settings.max_bytes, backupCount=settings.backups, encoding="utf-8", errors="replace"
        )

    def emit(self, record: logging.LogRecord) -> None:
        """Write it, unless it only repeats what was written; then it is counted."""
        now = self._clock()
        for summary in self._burst.due(now):
            self._write(summary)
        if self._burst.admits(record, now):
            self._write(record)

    def close(self) -> None:
        """Tell what was counted, and let go of the file."""
        self.acquire()
        try:
            for summary in self._burst.due(None):
                self._write(summary)
        finally:
            self.release()
        super().close()

    def doRollover(self) -> None:  # noqa: N802 - the handler's own name
        """One process at a time: two at once would drop what the other has just set aside."""
        folder = os.open(os.path.dirname(self.baseFilename), os.O_RDONLY | os.O_CLOEXEC)  # noqa: PTH120 - a text
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Whoever was faster has rotated the file that is open here.
            if not self._rejoin():
                super().doRollover()
        except BlockingIOError:
            pass  # another process rotates it right now; this record goes to the old file
        finally:
            os.close(folder)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the handler's own name
        """A full disk or a lost directory costs the record.

        Told on standard error, it would be drawn over the control room, and fill what the daemon's goes to.
        """
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)

    def _write(self, record: logging.LogRecord) -> None:
        try:
            self._rejoin()
        except OSError:
            self.handleError(record)
        else:
            super().emit(record)

    def _rejoin(self) -> bool:
        """Go on in the present file when another process has rotated the one that is open here; whether it had."""
        stream: TextIOWrapper | None = self.stream
        if stream is None:
            return False  # the handler opens it
        ours = os.fstat(stream.fileno())
        try:
            now = os.stat(self.baseFilename)  # noqa: PTH116 - the handler keeps a text
        except FileNotFoundError:
            now = None
        if now is None or (now.st_dev, now.st_ino) != (ours.st_dev, ours.st_ino):
            stream.close()
            self.stream = None  # as the handler itself has it between two files
            self.stream = self._open()
            return True
        return False

    def _open(self) -> TextIOWrapper:
        # The mode of the first moment counts: another user must not get to open it.
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, FILE_MODE)
        return os.fdopen(descriptor, "a", encoding=self.encoding, errors=self.errors)

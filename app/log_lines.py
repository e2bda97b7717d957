"""How a record looks in pam's log: as a line for people, or as one JSON object; without secrets either way."""

from __future__ import annotations

import json
import logging
import re
from datetime import UTC, datetime

from store.clock import to_text
from store.redaction import Redactor

_RUN = re.compile(r"\b[Rr]un ([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b")
LONGEST = 20_000
"""Characters of a message; one record must not push all the others out of the log."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class TextLines(logging.Formatter):
    """``2026-11-30 09:00:00,123 INFO    4711 pam.ingest: …``; what follows a first line is set in.

    It works on the finished text, so that a key in a traceback is hidden, too.
    """

    def __init__(self, redact: Redactor) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(process)d %(name)s: %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        record.message = message_of(record)
        record.asctime = self.formatTime(record)
        said = self._redact("\n".join(filter(None, (self.formatMessage(record), failure_of(record)))))
        # What others wrote must neither move the reader's cursor nor pass for a record of its own.
        return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", said).replace("\n", "\n    ")


class JsonLines(logging.Formatter):
    """One object a line: ts, level, logger, pid, message, and where they are known run_id and error.

    Values are redacted before they are quoted: inside of a quoted text a key may look otherwise.
    """

    def __init__(self, redact: Redactor) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        message = self._redact(message_of(record))
        said: dict[str, object] = {
            "ts": to_text(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "pid": record.process,
            "message": message,
        }
        run = getattr(record, "run_id", None) or run_in(message)
        if run:
            said["run_id"] = str(run)
        failure = failure_of(record)
        if failure:
            said["error"] = self._redact(failure)
        return json.dumps(said, ensure_ascii=False, separators=(",", ":"))


def message_of(record: logging.LogRecord) -> str:
    """The record's message; one whose arguments do not fit is told nevertheless."""
    try:
        said = record.getMessage()
    except (TypeError, ValueError, KeyError, IndexError):
        said = f"{record.msg} {record.args!r}"
    return said if len(said) <= LONGEST else said[:LONGEST] + " …"


def run_in(message: str) -> str | None:
    """The run that a sentence of pam names."""
    found = _RUN.search(message)
    return found[1] if found else None


def failure_of(record: logging.LogRecord) -> str:
    """The traceback that came with a record, if one did."""
    parts = []
    if record.exc_info and record.exc_info[0] is not None:
        parts.append(logging.Formatter().formatException(record.exc_info))
    if record.stack_info:
        parts.append(record.stack_info)
    return "\n".join(parts)

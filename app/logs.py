"""pam's own log: ``logs/pam.log`` in the home, rotated, readable by its owner alone, and free of keys and tokens.

The variable ``PAM_LOG`` sets the level: debug, info (the default), warning or error (PAM-LOG-003).
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Mapping
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler

from store.home import DIRECTORY_MODE, FILE_MODE, Home

MAX_BYTES = 1_000_000
KEPT = 3
HIDDEN = "[hidden]"

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSW(OR)?D|CREDENTIALS?)$", re.IGNORECASE)
_SHORTEST_SECRET = 8
_PATTERNS = (
    re.compile(r"\b(?:sk|pk|rk|xai|ghp|gho|ghu|ghs|glpat|xox[abprs])[-_][A-Za-z0-9_-]{12,}"),
    re.compile(r"\bgithub_pat_\w{20,}|\bAIza[\w-]{30,}|\bAKIA[A-Z0-9]{16}\b"),
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]+"),
    re.compile(r"(?i)(?<=bearer )[\w.~+/=-]{8,}"),
    re.compile(r"(?i)(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"),
)
_NAMED = re.compile(
    r"""(?ix) ( (?:api[_-]?key|access[_-]?token|auth[_-]?token|token|secret|passw(?:or)?d)  ["']? \s* [:=] \s* ["']? )
    [^\s"',;&}]{4,}"""
)


class Redactor:
    """Hides what must not be read by others: known values, and whatever has the shape of a key (PAM-SEC-002)."""

    def __init__(self, environ: Mapping[str, str], secrets: Iterable[str] = ()) -> None:
        named = (value for name, value in environ.items() if _SECRET_NAME.search(name))
        values = {value for value in (*named, *secrets) if len(value) >= _SHORTEST_SECRET}
        # The longest first, so that no rest of a longer one stays behind.
        self._values = sorted(values, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """``text`` with every secret replaced."""
        for value in self._values:
            text = text.replace(value, HIDDEN)
        for pattern in _PATTERNS:
            text = pattern.sub(HIDDEN, text)
        return _NAMED.sub(rf"\1{HIDDEN}", text)


def start_log(home: Home, environ: Mapping[str, str], *, secrets: Iterable[str] = ()) -> None:
    """Send pam's records to the log of ``home``; once is enough, again replaces it. Raises OSError."""
    home.log.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
    root = logging.getLogger()
    for old in [handler for handler in root.handlers if isinstance(handler, _PrivateFile)]:
        root.removeHandler(old)
        old.close()
    handler = _PrivateFile(home.log, maxBytes=MAX_BYTES, backupCount=KEPT, encoding="utf-8", errors="replace")
    handler.setFormatter(_Redacting(Redactor(environ, secrets)))
    root.addHandler(handler)
    logging.getLogger("watchfiles").setLevel(logging.WARNING)  # it tells of every change it sees
    root.setLevel(LEVELS.get(environ.get("PAM_LOG", "info").lower(), logging.INFO))


class _PrivateFile(RotatingFileHandler):
    def _open(self) -> TextIOWrapper:
        # The mode of the first moment counts: another user must not get to open it.
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, FILE_MODE)
        return os.fdopen(descriptor, "a", encoding=self.encoding, errors=self.errors)


class _Redacting(logging.Formatter):
    """Works on the finished text, so that a key in a traceback is hidden, too."""

    def __init__(self, redact: Redactor) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(process)d %(name)s: %(message)s")
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(super().format(record))

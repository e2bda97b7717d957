"""Hides keys and tokens in whatever is written down: logs, journal, notes (PAM-SEC-002, PAM-SEC-003).

What has the shape of a key is hidden everywhere. Keys without a shape are hidden by their value: whoever comes to know
one tells ``learn``, and from then on nothing in this process writes it down.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

HIDDEN = "[hidden]"

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSW(OR)?D|CREDENTIALS?)$", re.IGNORECASE)
_SHORTEST_SECRET = 8
_DEEPEST = 50
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


_KEPT = frozenset(
    {
        *("session_id", "sessionId", "sessionID", "conversation_id", "thread-id", "transcript", "transcript_path"),
        *("transcriptPath", "cwd", "hook_event_name", "pane", "boot"),
    }
)


@dataclass(slots=True)
class _Known:
    """What this process has learned; replaced as a whole, so that threads need no lock to read it."""

    values: frozenset[str] = frozenset()


_KNOWN = _Known()


def secrets_in(environ: Mapping[str, str]) -> list[str]:
    """Values of an environment whose names say that they are secret."""
    return [value for name, value in environ.items() if _SECRET_NAME.search(name)]


def learn(secrets: Iterable[str]) -> None:
    """Values that nothing in this process may write down from now on."""
    new = {value for value in secrets if len(value) >= _SHORTEST_SECRET}
    if not new <= _KNOWN.values:
        _KNOWN.values |= new


class Redactor:
    """Hides what must not be read by others: known values, and whatever has the shape of a key."""

    def __init__(self, environ: Mapping[str, str], secrets: Iterable[str] = ()) -> None:
        self._own = {value for value in (*secrets_in(environ), *secrets) if len(value) >= _SHORTEST_SECRET}
        self._seen: frozenset[str] | None = None
        self._values: list[str] = []

    def __call__(self, text: str) -> str:
        """``text`` with every secret replaced."""
        for value in self._forms():
            text = text.replace(value, HIDDEN)
        for pattern in _PATTERNS:
            text = pattern.sub(HIDDEN, text)
        return _NAMED.sub(rf"\1{HIDDEN}", text)

    def table(self, payload: Mapping[str, object], depth: int = 0) -> dict[str, object]:
        """The same in every text of a JSON object; ids and paths stay as they are, somebody needs them.

        What is nested too deeply to be read is left out.
        """
        parts = payload.items()
        return {self(str(key)): part if key in _KEPT else self._part(part, depth + 1) for key, part in parts}

    def _part(self, value: object, depth: int) -> object:
        if isinstance(value, str):
            return self(value)
        if not isinstance(value, Mapping | list):
            return value
        if depth > _DEEPEST:
            return None
        return self.table(value, depth) if isinstance(value, Mapping) else [self._part(one, depth + 1) for one in value]

    def _forms(self) -> list[str]:
        learned = _KNOWN.values
        if learned is not self._seen:
            every = self._own | learned
            # The longest first, so that no rest of a longer one stays behind.
            self._values = sorted({form for value in every for form in _forms(value)}, key=len, reverse=True)
            self._seen = learned
        return self._values


def _forms(value: str) -> Iterator[str]:
    """A secret as it is, and as it looks inside a quoted text of Python or JSON."""
    yield value
    yield value.strip()
    yield repr(value)[1:-1]
    yield ascii(value)[1:-1]
    for plain in (True, False):
        yield json.dumps(value, ensure_ascii=plain)[1:-1]

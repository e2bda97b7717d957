"""Hides keys and tokens in whatever is written down (PAM-SEC-002, PAM-SEC-003)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping

HIDDEN = "[hidden]"

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
    """Hides what must not be read by others: known values, and whatever has the shape of a key."""

    def __init__(self, environ: Mapping[str, str], secrets: Iterable[str] = ()) -> None:
        named = (value for name, value in environ.items() if _SECRET_NAME.search(name))
        known = {value for value in (*named, *secrets) if len(value) >= _SHORTEST_SECRET}
        # The longest first, so that no rest of a longer one stays behind.
        self._values = sorted({form for value in known for form in _forms(value)}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """``text`` with every secret replaced."""
        for value in self._values:
            text = text.replace(value, HIDDEN)
        for pattern in _PATTERNS:
            text = pattern.sub(HIDDEN, text)
        return _NAMED.sub(rf"\1{HIDDEN}", text)


def _forms(value: str) -> Iterator[str]:
    """A secret as it is, and as it looks inside a quoted text of Python or JSON."""
    yield value
    yield value.strip()
    yield repr(value)[1:-1]
    yield ascii(value)[1:-1]
    for plain in (True, False):
        yield json.dumps(value, ensure_ascii=plain)[1:-1]

"""Which tmux this is, and the oldest one pam works with."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class TmuxVersion:
    """A tmux release; ``3.3a`` is (3, 3, "a")."""

    major: int
    minor: int
    suffix: str = ""

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}{self.suffix}"


OLDEST = TmuxVersion(3, 2)
_VERSION = re.compile(r"tmux (?:next-|openbsd-)?(\d+)\.(\d+)([a-z]?)")


def parse_version(text: str) -> TmuxVersion | None:
    """What ``tmux -V`` printed; None when it is no version. A development build counts as newer than all."""
    if text.strip() == "tmux master":
        return TmuxVersion(99, 0)
    found = _VERSION.match(text)
    return TmuxVersion(int(found[1]), int(found[2]), found[3]) if found else None

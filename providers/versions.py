"""Version ranges as in ``>=2.1.197, <3``, which a program's ``--version`` is held against (PAM-PROV-010)."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable

Version = tuple[int, ...]

_COMPARISONS: dict[str, Callable[[Version, Version], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_BOUND = re.compile(r"(>=|<=|==|!=|>|<)\s*(\d+(?:\.\d+)*)")
_VERSION = re.compile(r"(?<![\d.])\d+(?:\.\d+)+")


def is_range(text: str) -> bool:
    """Whether ``text`` is comparisons with commas between them; the empty text admits every version."""
    return not text.strip() or all(_BOUND.fullmatch(bound.strip()) for bound in text.split(","))


def within(version: str, wanted: str) -> bool:
    """Whether ``version`` (digits and dots) satisfies every comparison of the range ``wanted``."""
    return all(_COMPARISONS[sign](*_same_length(version, bound)) for sign, bound in _BOUND.findall(wanted))


def find_version(output: str) -> str | None:
    """The first version in what a program printed: ``2.1.332`` in ``2.1.332 (Claude Code)``."""
    found = _VERSION.search(output)
    return found[0] if found else None


def _same_length(first: str, second: str) -> tuple[Version, Version]:
    left, right = ([int(part) for part in version.split(".")] for version in (first, second))
    length = max(len(left), len(right))
    return tuple(left + [0] * (length - len(left))), tuple(right + [0] * (length - len(right)))

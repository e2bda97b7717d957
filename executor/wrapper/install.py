"""The two host-side programs as files for a host, named by their content: a new pam never starts an old one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

STEMS = ("pam_exec", "pam_signal")


@dataclass(frozen=True, slots=True)
class Program:
    """A file that a host needs."""

    stem: str
    """``pam_exec`` or ``pam_signal``."""
    name: str
    """Its name in the host's ``wrapper/`` folder: ``<stem>-<first 12 hex digits of its SHA-256>.py``."""
    content: bytes


@cache
def programs() -> tuple[Program, ...]:
    """The wrapper and the signal helper, in this order. Neither needs the execute bit; mode 0600 is enough."""
    return tuple(_program(stem) for stem in STEMS)


def _program(stem: str) -> Program:
    content = Path(__file__).with_name(f"{stem}.py").read_bytes()
    return Program(stem, f"{stem}-{hashlib.sha256(content).hexdigest()[:12]}.py", content)

"""One line of the doctor, and what the checks of providers need to know of config.toml."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from providers.gateway import Gateway

State = Literal["ok", "problem", "na"]


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor: what was looked at, how it is, and what to do about it."""

    name: str
    state: State
    detail: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Practice:
    """How runs are started here, as far as it decides what a check says."""

    gateway: Gateway | None = None
    key_command: tuple[str, ...] = ()
    unproven_hooks: bool = False
    first_run_answers: bool = True
    home: str = "/nonexistent"
    """pam's home."""
    cwd: str | None = None
    """Where a run would start; None where its first questions are not asked for."""

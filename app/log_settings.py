"""What the operator may say about pam's own log, apart from the machinery that writes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

LogFormat = Literal["text", "json"]

LEVELS = ("debug", "info", "warning", "error")
FORMATS: tuple[LogFormat, ...] = ("text", "json")


@dataclass(frozen=True, slots=True)
class LogSettings:
    """``[log]`` of config.toml."""

    level: str = "info"
    """One of ``LEVELS``."""
    format: LogFormat = "text"
    max_bytes: int = 1_000_000
    """A log beyond this is set aside as ``pam.log.1``."""
    backups: int = 3
    """How many older logs are kept."""


def from_environment(environ: Mapping[str, str]) -> LogSettings:
    """What ``PAM_LOG`` and ``PAM_LOG_FORMAT`` say, for when the settings cannot be read; nonsense counts as nothing."""
    level, form = environ.get("PAM_LOG", "").lower(), environ.get("PAM_LOG_FORMAT", "").lower()
    default = LogSettings()
    return LogSettings(
        level=level if level in LEVELS else default.level,
        format=form if form in FORMATS else default.format,
    )

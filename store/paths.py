"""Paths as the operator names them: from where he stands, or from a home."""

from __future__ import annotations

from pathlib import Path

from store.errors import InvalidValue


def absolute(named: str | Path, field: str) -> Path:
    """``named`` from / on; a leading tilde and the current directory are filled in.

    Raises InvalidValue for the home of nobody, and for a relative path where the current directory is gone; ``field``
    says what the path is for.
    """
    try:
        return Path(named).expanduser().absolute()
    except RuntimeError:
        reason = "names nobody's home"
    except OSError:
        reason = "counts from the current directory, which is gone"
    raise InvalidValue(f"The path {str(named)!r} {reason}. Give it from / on.", field=field)

"""pam's own command line, as a program to start."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from store.errors import NotFound


def own_command(*words: str) -> list[str]:
    """The argv that runs ``pam`` with these words. Raises NotFound where pam is not installed as it should be.

    The console script's entry is started by its path, so that no directory around can stand in for it.
    """
    spec = find_spec("pam_launch")
    if spec is None or spec.origin is None:
        raise NotFound("pam is not installed as it should be: pam_launch is missing. Install it again.")
    return [sys.executable, "-P", spec.origin, *words]

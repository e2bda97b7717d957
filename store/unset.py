"""The difference between "not given" and "set to nothing" in verbs that edit."""

from __future__ import annotations

from enum import Enum


class Unset(Enum):
    """Its one member is the default of arguments that mean: leave as it is."""

    UNSET = "unset"


UNSET = Unset.UNSET

"""Places beside the board are loaded after it, and each of them is there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from app.places import PLACES, bring_in, class_of


@pytest.mark.parametrize("name", PLACES)
def test_a_place_is_called_as_the_key_that_opens_it(name: str) -> None:
    assert name == class_of(name).PLACE


def test_the_board_is_drawn_without_any_of_them() -> None:
    """A start of the control room takes a tenth less so (issue: first paint within 1 s)."""
    script = "import sys, app.room; print(*sorted(name for name in sys.modules if name.startswith('screens.')))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert {module for module, _ in PLACES.values()} & set(loaded) == set()


def test_bringing_them_in_loads_every_one() -> None:
    bring_in()
    assert {module for module, _ in PLACES.values()} <= sys.modules.keys()

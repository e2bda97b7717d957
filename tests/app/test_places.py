"""Places beside the board are loaded after it, and each of them is there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from app.places import LATER, PLACES, bring_in, class_of


@pytest.mark.parametrize("name", PLACES)
def test_a_place_is_called_as_the_key_that_opens_it(name: str) -> None:
    assert name == class_of(name).PLACE


def test_the_board_is_drawn_without_any_of_them() -> None:
    """A start of the control room takes a quarter less so (issue: first paint within 1 s)."""
    script = "import sys, app.room; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "app.model.core" in loaded
    assert _beside_the_board() & set(loaded) == set()


def test_bringing_them_in_loads_every_one() -> None:
    bring_in()
    assert _beside_the_board() <= sys.modules.keys()


def _beside_the_board() -> set[str]:
    return {*LATER, *(module for module, _ in PLACES.values())}

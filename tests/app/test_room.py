"""Opening the control room: what it needs of the terminal, and how it fits it."""

from __future__ import annotations

from pathlib import Path

import pytest

import themes
from app import room
from app.settings import load
from store.errors import UsageError
from store.home import Home


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_cannot_be_drawn_on_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, term: str) -> None:
    """Before a database is opened or a server started."""
    monkeypatch.setenv("TERM", term)
    home = Home(tmp_path / "home")
    with pytest.raises(UsageError, match="TERM says it is dumb"):
        room.open_room(load(home, None, {}))
    assert not home.database.exists()


@pytest.mark.parametrize(
    ("term", "colorterm", "few"),
    [("xterm-256color", "", True), ("xterm-256color", "truecolor", False), ("xterm", "", False)],
)
def test_the_palettes_fit_the_colours_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch, term: str, colorterm: str, few: bool
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("COLORTERM", colorterm)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert room.palettes() is (themes.FEW_COLOURS if few else themes.PALETTES)

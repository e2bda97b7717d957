"""What is marked with the mouse, from cell to cell."""

from __future__ import annotations

from screens.terminal.marked import Marked

ROWS = ["first row   ", "日本語 and more", "last"]


def marked(x: int, y: int, to_x: int, to_y: int) -> Marked:
    found = Marked(x, y)
    found.reach(to_x, to_y)
    return found


def test_a_part_of_a_row() -> None:
    assert marked(0, 0, 4, 0).text(ROWS, 20) == "first"
    assert marked(4, 0, 0, 0).text(ROWS, 20) == "first", "also backwards"


def test_rows_without_the_blanks_at_their_end() -> None:
    assert marked(6, 0, 3, 2).text(ROWS, 20) == "row\n日本語 and more\nlast"


def test_wide_characters_count_two_cells() -> None:
    assert marked(2, 1, 5, 1).text(ROWS, 20) == "本語"


def test_a_click_marks_nothing() -> None:
    assert Marked(3, 1).span(1, 20) is None
    assert marked(3, 1, 6, 1).span(1, 20) == (3, 7)
    assert marked(3, 0, 6, 2).span(1, 20) == (0, 20)
    assert marked(3, 0, 6, 0).span(1, 20) is None

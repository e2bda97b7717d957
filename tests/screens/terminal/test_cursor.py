"""The operator's cursor, lent: what is written behind a painting, and when it is put away."""

from __future__ import annotations

from screens.terminal.cursor import LentCursor, Place

PAINTING = "\x1b[2;1Hrow\x1b[1;1H"


class Somewhere:
    """Says where it belongs."""

    def __init__(self, place: Place | None) -> None:
        self.place = place

    def __call__(self) -> Place | None:
        return self.place


def test_it_follows_a_painting_and_is_hidden_meanwhile() -> None:
    cursor = LentCursor()
    cursor.lend(Somewhere(Place(4, 2, "bar")))
    assert cursor.behind(PAINTING) == PAINTING + "\x1b[3;5H\x1b[6 q\x1b[?25h"
    assert cursor.behind(PAINTING) == "\x1b[?25l" + PAINTING + "\x1b[3;5H\x1b[?25h"


def test_what_does_not_move_it_is_left_alone() -> None:
    cursor = LentCursor()
    cursor.lend(Somewhere(Place(0, 0, "default")))
    for other in ("\x07", "\x1b]52;c;aGk=\x07", "\x1b[?2026h", ""):
        assert cursor.behind(other) == other


def test_it_is_put_away_as_it_was_found_once_nobody_has_it() -> None:
    cursor, where = LentCursor(), Somewhere(Place(0, 0, "blinking block"))
    cursor.lend(where)
    cursor.behind(PAINTING)
    where.place = None
    assert cursor.behind(PAINTING) == "\x1b[?25l\x1b[0 q" + PAINTING
    assert cursor.behind(PAINTING) == PAINTING
    assert cursor.put_away() == ""


def test_a_shape_of_nobody_is_not_asked_for() -> None:
    for cursor, shape in ((LentCursor(), "default"), (LentCursor(), "a heart"), (LentCursor(forms=False), "bar")):
        cursor.lend(Somewhere(Place(0, 0, shape)))
        assert " q" not in cursor.behind(PAINTING) + cursor.put_away()


def test_of_several_the_one_that_is_typed_into_has_it() -> None:
    cursor, first, second = LentCursor(), Somewhere(None), Somewhere(Place(1, 1, "default"))
    cursor.lend(first)
    cursor.lend(second)
    assert cursor.behind(PAINTING).endswith("\x1b[2;2H\x1b[?25h")
    cursor.take_back(second)
    assert cursor.behind(PAINTING) == "\x1b[?25l" + PAINTING

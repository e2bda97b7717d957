"""What the engine makes of a program's bytes: rows that stand alone, cursor, modes, answers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from executor.terminal.engine import GRAPHEME_CLUSTERS, Engine
from executor.terminal.link import available

pytestmark = pytest.mark.skipif(not available(), reason="no engine for this machine")


class Said:
    """What a terminal says besides its screen."""

    def __init__(self) -> None:
        self.replies: list[bytes] = []
        self.bells = 0
        self.copied: list[str] = []

    def ring(self) -> None:
        self.bells += 1


@pytest.fixture
def said() -> Said:
    return Said()


@pytest.fixture
def engine(said: Said) -> Iterator[Engine]:
    made = Engine(
        20, 4, reply=said.replies.append, bell=said.ring, copy=said.copied.append, colours=("#aabbcc", "#112233")
    )
    yield made
    made.close()


def test_rows_stand_alone(engine: Engine) -> None:
    """A row that is cut out has its own style, and leaves none behind."""
    engine.feed(b"\x1b[31mred\r\nstill\x1b[0m plain")
    assert engine.screen() == [
        "\x1b[0m\x1b[38;5;1mred\x1b[0m",
        "\x1b[0m\x1b[38;5;1mstill\x1b[0m plain",
        "",
        "",
    ]


def test_what_was_erased_in_a_colour_keeps_it(engine: Engine) -> None:
    """The library's own writer leaves such rows out."""
    engine.feed(b"\x1b[44m\x1b[K\r\n\x1b[48;2;1;2;3m\x1b[4X\x1b[0m")
    first, second, *rest = engine.screen()
    assert first == "\x1b[0;48;5;4m" + " " * 20 + "\x1b[0m"
    assert second == "\x1b[0;48;2;1;2;3m    \x1b[0m" + " " * 16 + "\x1b[0m"
    assert rest == ["", ""]


def test_clusters_are_one_wide_cell_also_after_a_reset(engine: Engine) -> None:
    """facts/emulator: as tmux counts them."""
    for reset in (b"", b"\x1bc"):
        engine.feed(reset + "👩‍👩‍👧x".encode())
        assert engine.mode(GRAPHEME_CLUSTERS)
        assert engine.cursor()[:2] == (3, 0)


def test_cursor_and_its_shape(engine: Engine) -> None:
    engine.feed(b"ab\r\ncd\x1b[5 q")
    assert engine.cursor() == (2, 1, True, "bar")
    engine.feed(b"\x1b[4 q\x1b[?25l")
    assert engine.cursor()[2:] == (False, "underline")


def test_modes_are_told_by_name(engine: Engine) -> None:
    assert engine.modes() == []
    engine.feed(b"\x1b[?1049h\x1b[?1002h\x1b[?1006h\x1b[?2004h\x1b[?1004h\x1b[?1h\x1b[>5u")
    assert engine.modes() == ["alternate", "app_cursor", "focus", "mouse_drag", "mouse_sgr", "paste"]
    assert engine.kitty_flags() == 5
    engine.feed(b"\x1b[?1049l")
    assert engine.kitty_flags() == 0, "each screen has its own"


def test_questions_are_answered_and_words_are_passed_on(engine: Engine, said: Said) -> None:
    engine.feed(b"x\x1b[6n\x1b]11;?\x07\x07\x1b]52;c;aMOp\x07\x1b]2;caf\xc3\xa9\x07")
    assert said.replies == [b"\x1b[1;2R", b"\x1b]11;rgb:1111/2222/3333\x07"]
    assert (said.bells, said.copied, engine.title()) == (1, ["hé"], "café")


def test_a_terminal_of_one_cell_and_back(engine: Engine) -> None:
    engine.feed(b"hello")
    engine.resize(1, 1)
    assert len(engine.screen()) == 1
    engine.resize(30, 5)
    engine.feed(b"\x1b[2J\x1b[Hhello")
    assert engine.screen() == ["hello", "", "", "", ""]


def test_scrolled_away_lines_can_be_looked_at(engine: Engine) -> None:
    engine.feed(b"".join(b"line %d\r\n" % number for number in range(20)))
    engine.scroll(-5)
    assert engine.screen()[0] == "line 12"
    assert not engine.cursor().visible
    engine.scroll(0)
    assert engine.screen()[:3] == ["line 17", "line 18", "line 19"]

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


@pytest.mark.parametrize(
    ("written", "row"),
    [
        (b"\x1b[4mab\x1b[0m\x1b[6Gt", "\x1b[0m\x1b[4mab\x1b[0m   \x1b[4m\x1b[0mt"),
        (b"\x1b[44m  \x1b[0m\x1b[2X\x1b[5Gt", "\x1b[0m\x1b[48;5;4m  \x1b[0m  \x1b[48;5;4m\x1b[0mt"),
        (b"\x1b[9ma b\x1b[6Gc\x1b[0m", "\x1b[0m\x1b[9ma b\x1b[0m  \x1b[9mc\x1b[0m"),
        (b"\x1b[7ma  b\x1b[0m", "\x1b[0m\x1b[7ma  b\x1b[0m"),
        ("\x1b[3m日🇩🇩🇩🇩e\u0301\x1b[10Gx\x1b[0m", "\x1b[0m\x1b[3m日🇩🇩🇩🇩e\u0301\x1b[0m  \x1b[3mx\x1b[0m"),
        ("\x1b[3m👩\u200d👩👩\x1b[6Gx\x1b[0m", "\x1b[0m\x1b[3m👩\u200d👩👩\x1b[0m \x1b[3mx\x1b[0m"),
    ],
    ids=["underlined", "coloured", "within", "spaces", "flags", "joined"],
)
def test_cells_that_nothing_was_written_to_have_no_style(engine: Engine, written: bytes | str, row: str) -> None:
    """The library's own writer gives them that of the text before."""
    engine.feed(written.encode() if isinstance(written, str) else written)
    assert engine.screen()[0] == row


def test_clusters_are_one_wide_cell_also_after_a_reset(engine: Engine) -> None:
    """facts/emulator: as tmux counts them."""
    for reset in (b"", b"\x1bc"):
        engine.feed(reset + "👩‍👩‍👧x".encode())
        assert engine.mode(GRAPHEME_CLUSTERS)
        assert engine.cursor()[:2] == (3, 0)


def test_cursor_and_its_shape(engine: Engine) -> None:
    engine.feed(b"ab\r\ncd\x1b[5 q")
    assert engine.cursor() == (2, 1, True, "blinking bar")
    engine.feed(b"\x1b[0 q")
    assert engine.cursor().shape == "default", "the operator's own"
    engine.feed(b"\x1b[?12h")
    assert engine.cursor().shape == "default"
    engine.feed(b"\x1b[4 q\x1b[?12l\x1b[?25l")
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


def test_links_stand_where_they_are_and_end_with_their_row(engine: Engine) -> None:
    """facts/emulator, §5: the library's own writer leaves them out."""
    engine.feed(
        b"a \x1b]8;;https://x.y/?q=<\"&'>\x1b\\li\x1b[1mnk \x1b[0mx\x1b]8;;\x07 <&> \x1b]8;id=1;http://z\x07"
        + "日本👩‍👩‍👧é goes on".encode()
        + b"\x1b]8;;\x07."
    )
    first, second, *_ = engine.screen()
    begin, end = "\x1b]8;;https://x.y/?q=<\"&'>\x1b\\", "\x1b]8;;\x1b\\"
    assert first == f"a {begin}li\x1b[0m\x1b[1mnk \x1b[0mx{end} <&> \x1b]8;;http://z\x1b\\日本👩‍👩‍👧é{end}"
    assert second == f"\x1b]8;;http://z\x1b\\ goes on{end}."


def test_cells_that_nothing_was_written_to_belong_to_no_link(engine: Engine) -> None:
    engine.feed(b"\x1b]8;;http://a\x07one\x1b]8;;http://b\x07two\x1b]8;;\x07\x1b[3Cfar")
    assert engine.screen()[0] == (
        "\x1b]8;;http://a\x1b\\one\x1b]8;;\x1b\\\x1b]8;;http://b\x1b\\two\x1b]8;;\x1b\\   far"
    )


def test_a_link_that_comes_in_pieces_is_seen_and_one_that_is_gone_is_gone(engine: Engine) -> None:
    for byte in b"\x1b]8;;http://a\x07one\x1b]8;;\x07":
        engine.feed(bytes([byte]))
    assert engine.screen()[0] == "\x1b]8;;http://a\x1b\\one\x1b]8;;\x1b\\"
    engine.feed(b"\x1b[H\x1b]8;;http://b\x07one\x1b]8;;\x07")
    assert engine.screen()[0] == "\x1b]8;;http://b\x1b\\one\x1b]8;;\x1b\\", "the same text leads elsewhere"
    engine.feed(b"\x1b[Hone")
    assert engine.screen()[0] == "one"


def test_rows_with_links_are_those_of_what_is_looked_at(engine: Engine) -> None:
    engine.feed(b"".join(b"\x1b]8;;http://%d\x07line %d\x1b]8;;\x07\r\n" % (n, n) for n in range(20)))
    engine.scroll(-5)
    assert engine.screen()[0] == "\x1b]8;;http://12\x1b\\line 12\x1b]8;;\x1b\\"


@pytest.mark.parametrize("link", ["http://x/\x9b31m", "http://é", "http://a b", "", "http://" + "x" * 3000])
def test_a_link_that_could_do_more_than_lead_somewhere_is_left_out(engine: Engine, link: str) -> None:
    engine.feed(f"\x1b]8;;{link}\x1b\\text\x1b]8;;\x1b\\".encode())
    assert engine.screen()[0] == "text"


def test_underlines_keep_their_form_and_colour(engine: Engine) -> None:
    engine.feed(b"\x1b[4:3;58:2::255:0:0mab\x1b[0m\x1b[4:4mcd\x1b[0m\x1b[4:5;58:5:9mef\x1b[0m\x1b[53mgh")
    assert engine.screen()[0] == (
        "\x1b[0m\x1b[4:3m\x1b[58;2;255;0;0mab\x1b[0m\x1b[4:4mcd\x1b[0m\x1b[4:5m\x1b[58;5;9mef\x1b[0m\x1b[53mgh\x1b[0m"
    )

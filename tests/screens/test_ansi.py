"""The renderer of captured rows: what it draws, and what it lets nobody do (PAM-UI-011, design §6)."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.color import Color
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from screens.ansi import MAX_LINES, RowRenderer
from themes import terminal_colours

COLOURS = terminal_colours("pam-dark")
TRUE_COLOUR = Console(color_system="truecolor", file=io.StringIO())


def drawn(*rows: str) -> list[Strip]:
    return RowRenderer(COLOURS).strips(rows)


def style_at(strip: Strip, column: int) -> Style:
    """Style of one cell."""
    left = 0
    for segment in strip:
        left += segment.cell_length
        if column < left:
            return segment.style or Style()
    raise AssertionError(f"no cell {column} in {strip.text!r}")


@pytest.mark.parametrize(
    ("sequence", "attribute"),
    [
        ("1", "bold"),
        ("2", "dim"),
        ("3", "italic"),
        ("4", "underline"),
        ("4:3", "underline"),
        ("4:2", "underline2"),
        ("21", "underline2"),
        ("7", "reverse"),
        ("8", "conceal"),
        ("9", "strike"),
        ("53", "overline"),
    ],
)
def test_every_attribute_is_switched_on_and_off(sequence: str, attribute: str) -> None:
    strip = drawn(f"\x1b[{sequence}mA\x1b[0mB")[0]
    assert getattr(style_at(strip, 0), attribute)
    assert not getattr(style_at(strip, 1), attribute)


@pytest.mark.parametrize(
    "sequence", ["38;2;10;20;30", "38:2:10:20:30", "38:2::10:20:30", "1;38;2;10;20;30", "38;2;10;20;30;1"]
)
def test_both_forms_of_true_colour_are_read(sequence: str) -> None:
    style = style_at(drawn(f"\x1b[{sequence}mA")[0], 0)
    assert style.color == Color.from_rgb(10, 20, 30)


@pytest.mark.parametrize(
    ("sequence", "expected"),
    [
        ("31", COLOURS.palette[1]),
        ("91", COLOURS.palette[9]),
        ("38;5;2", COLOURS.palette[2]),
        ("38:5:2", COLOURS.palette[2]),
        ("38;5;16", "#000000"),
        ("38;5;231", "#ffffff"),
        ("38;5;196", "#ff0000"),
        ("38;5;232", "#080808"),
        ("31;39", COLOURS.foreground),
    ],
)
def test_palette_colours_are_those_of_the_theme(sequence: str, expected: str) -> None:
    style = style_at(drawn(f"\x1b[{sequence}mA")[0], 0)
    assert style.color is not None
    assert style.color.triplet == Color.parse(expected).triplet


def test_blinking_is_left_out_and_an_underlines_colour_is_no_line() -> None:
    style = style_at(drawn("\x1b[5;58:5:9mA")[0], 0)
    assert not style.blink
    assert style == RowRenderer(COLOURS, underlines=True).base


@pytest.mark.parametrize(
    ("sequence", "written"),
    [
        ("4:3", "4:3"),
        ("4:4", "4:4"),
        ("4:5", "4:5"),
        ("4;58:2::1:2:3", "58:2::1:2:3"),
        ("4:3;58;2;1;2;3", "4:3;58:2::1:2:3"),
        ("21;58:5:231", "58:2::255:255:255"),
        ("4:3;4", ""),
        ("4:3;58:5:9;59;24;4:4", "4:4"),
        ("4:3;58:5:9;0;4", ""),
        ("4:3;4:0", ""),
    ],
)
def test_underlines_are_written_in_the_form_and_colour_they_were_asked_in(sequence: str, written: str) -> None:
    """In a sequence of their own, behind one that any terminal understands."""
    (strip,) = RowRenderer(COLOURS, underlines=True).strips([f"\x1b[{sequence}mA"])
    plain = drawn("\x1b[21mA" if sequence.startswith("21") else "\x1b[4mA" if "4:0" not in sequence else "A")[0]
    ends = f"\x1b[{written}mA\x1b[0m" if written else "A\x1b[0m"
    assert strip.render(TRUE_COLOUR) == plain.render(TRUE_COLOUR).removesuffix("A\x1b[0m") + ends


def test_one_form_of_underline_is_not_taken_for_another() -> None:
    """Rich and Textual look up by equality what they have made of a style."""
    strip = RowRenderer(COLOURS, underlines=True).strips(["\x1b[4mA\x1b[4:3mB\x1b[4:4mC"])[0]
    assert len({style_at(strip, column) for column in range(3)}) == 3
    marked = Strip([Segment(text, (style or Style()) + Style(reverse=True)) for text, style, _ in strip])
    assert marked.render(TRUE_COLOUR).count("\x1b[4;7;") == 3, "a mark underlines plainly"


def test_a_terminal_without_them_is_underlined_plainly() -> None:
    assert style_at(drawn("\x1b[4:3;58:5:9mA")[0], 0) == style_at(drawn("\x1b[4mA")[0], 0)


@pytest.mark.parametrize("link", ["https://example.com/a;b?c=%20", "HTTP://x", "mailto:a@b", "file:///tmp/x"])
@pytest.mark.parametrize("end", ["\x1b\\", "\x07"])
def test_links_are_handed_on_and_end_with_their_row(link: str, end: str) -> None:
    rows = [f"a\x1b]8;id=x;{link}{end}b\x1b[1mc\x1b]8;;{end}d\x1b]8;;{link}{end}e", "f"]
    first, second = RowRenderer(COLOURS, links=True).strips(rows)
    assert [style_at(first, column).link for column in range(5)] == [None, link, link, None, link]
    assert style_at(second, 0).link is None
    assert f";{link}\x1b\\" in first.render(TRUE_COLOUR)
    assert not any(style and style.link for strip in drawn(*rows) for _, style, _ in strip), "unless they are asked for"


def test_a_link_is_one_for_the_terminal_wherever_it_goes_on() -> None:
    rows = ["\x1b]8;;http://x\x07one", "\x1b]8;;http://x\x07two"]
    first, second = RowRenderer(COLOURS, links=True).strips(rows)
    assert style_at(first, 0).link_id == style_at(second, 0).link_id != ""


def test_the_pen_is_carried_from_row_to_row_and_starts_plain() -> None:
    renderer = RowRenderer(COLOURS)
    first, second = renderer.strips(["\x1b[1;31mA", "B"])
    assert style_at(second, 0) == style_at(first, 0)
    assert style_at(renderer.strips(["B"])[0], 0) == renderer.base


def test_line_drawing_is_carried_from_row_to_row() -> None:
    """tmux 3.3a writes SO and SI across the rows of one capture (facts/emulator, §5)."""
    assert [strip.text for strip in drawn("\x0elqk", "x x", "mqj\x0f", "lqk")] == ["┌─┐", "│ │", "└─┘", "lqk"]
    assert drawn("\x1b(0lqk\x1b(Blqk")[0].text == "┌─┐lqk"


@pytest.mark.parametrize(
    "hidden",
    [
        "\x1b]8;;javascript:alert(1)\x1b\\",
        "\x1b]8;;https://example.com/\x9b31m\x1b\\",
        "\x1b]8;;https://example.com/é\x1b\\",
        "\x1b]8;;https://example.com/ \x1b\\",
        "\x1b]52;c;Zm9v\x07",
        "\x1b]0;title\x07",
        "\x1b]11;?\x1b\\",
        "\x1bPq#0;2;0;0;0\x1b\\",
        "\x1b_Gf=100;AAAA\x1b\\",
        "\x1b[2J",
        "\x1b[?1049h",
        "\x1b[>4;1m",
        "\x1b[?4m",
        "\x1b[10;10H",
        "\x1b[c",
        "\x1b7",
        "\x1bc",
        "\x1b#8",
        "\x9b31m",
        "\x07",
        "\x08",
        "\r",
        "\x7f",
        "\u202e",
        "\u2066",
        "\u200b",
        "\ufeff",
    ],
)
def test_everything_but_text_and_colour_is_swallowed(hidden: str) -> None:
    for links in (False, True):
        (strip,) = RowRenderer(COLOURS, links=links).strips([f"a{hidden}b"])
        assert strip.text == "ab"
        assert style_at(strip, 0) == RowRenderer(COLOURS).base
        assert style_at(strip, 1).link is None


def test_what_follows_an_unfinished_sequence_stays_on_its_row() -> None:
    assert [strip.text for strip in drawn("a\x1b]0;never closed", "b", "c\x1b[31", "d")] == ["a", "b", "c", "d"]


def test_tabs_go_to_the_next_stop() -> None:
    assert drawn("ab\tc")[0].text == "ab      c"
    assert drawn("日本\tc")[0].cell_length == 9


@pytest.mark.parametrize(
    ("text", "shown", "width"),
    [
        ("日本語", "日本語", 6),
        ("e\u0301a", "e\u0301a", 2),
        ("👩‍👩‍👧‍👦!", "👩!", 3),
        ("👍🏽!", "👍!", 3),
        ("🇩🇪!", "DE!", 3),
        ("❤️!", "❤!", 2),
        ("⚠\ufe0f!", "⚠!", 2),
        ("a\u200db", "ab", 2),
        ("\u0301x", "x", 1),
        ("\ud800x", "\ufffdx", 2),
    ],
)
def test_clusters_whose_width_terminals_dispute_are_reduced(text: str, shown: str, width: int) -> None:
    strip = drawn(text)[0]
    assert (strip.text, strip.cell_length) == (shown, width)


def test_a_mark_does_not_cross_into_another_style() -> None:
    assert drawn("a\x1b[1m\u0301b")[0].text == "ab"


_PIECES = st.one_of(
    st.text(max_size=6),
    st.text(alphabet="\x1b[]();:0123456789mHJKhlPX^_\\\x07\x0e\x0f\x9b\x9d\t ?>", max_size=12),
    st.text(alphabet="日👩👍🏽‍️🇩🇪\u0301\u202e\u2066\u200d\ufe0f한ᅡ\u1160\u3164", max_size=6),
    st.sampled_from(
        ["\x1b[31m", "\x1b[38;2;1;2;3m", "\x1b[0m", "\x1b]8;;x\x07", "\x1b(0", "\x1b[4:3m", "\x1b[999999999m"]
    ),
    st.sampled_from(["\x1b]8;;http://", "\x1b]8;;file:///", "\x1b\\", "\x1b]8;;http://x\x1b\\", "\x1b[58:5:9m"]),
)
_ROWS = st.lists(st.lists(_PIECES, max_size=8).map("".join), max_size=6)
_ACTS_ON_A_TERMINAL = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c\ud800-\udfff]")

_LEADS_SOMEWHERE = re.compile("(https?://|file://|mailto:)[!-~]+", re.IGNORECASE)
_ALL_THAT_IS_WRITTEN = re.compile(r"(\x1b\]8;(id=[0-9-]+;[!-~]+|;)\x1b\\|\x1b\[[0-9:;]+m|[^\x00-\x1f\x7f-\x9f])*")


@given(rows=_ROWS, width=st.integers(1, 40))
def test_no_input_breaks_a_row_or_reaches_the_terminal(rows: list[str], width: int) -> None:
    """Whatever an agent writes, every row is exactly as wide as its window (screens.md, Rules)."""
    strips = RowRenderer(COLOURS, links=True, underlines=True).strips(rows)
    assert len(strips) == len(rows)
    for strip in strips:
        assert not _ACTS_ON_A_TERMINAL.search(strip.text)
        assert all(_LEADS_SOMEWHERE.fullmatch(style.link) for _, style, _ in strip if style and style.link)
        assert _ALL_THAT_IS_WRITTEN.fullmatch(strip.render(TRUE_COLOUR))
        assert strip.cell_length == cell_len(strip.text)
        fitted = strip.adjust_cell_length(width)
        assert cell_len(fitted.text) == width


@given(rows=_ROWS)
def test_the_cache_changes_nothing(rows: list[str]) -> None:
    warm = RowRenderer(COLOURS)
    warm.strips(rows)
    assert [list(strip) for strip in warm.strips(rows)] == [list(strip) for strip in drawn(*rows)]


_CODES = st.lists(
    st.sampled_from(
        ["0", "1", "2", "3", "4", "7", "9", "22", "23", "24", "27", "29", "38;5;100", "48;5;200", "39", "49"]
    ),
    min_size=1,
    max_size=4,
).map(";".join)


@given(parts=st.lists(st.tuples(_CODES, st.text(alphabet="abc ", min_size=1, max_size=3)), min_size=1, max_size=6))
def test_it_agrees_with_rich_on_what_rich_understands(parts: Sequence[tuple[str, str]]) -> None:
    row = "".join(f"\x1b[{codes}m{text}" for codes, text in parts)
    ours, reference = drawn(row)[0], Text.from_ansi(row)
    assert ours.text == reference.plain
    names = ("bold", "dim", "italic", "underline", "reverse", "strike")
    for column in range(len(reference.plain)):
        mine = style_at(ours, column)
        theirs = Style.combine([Style(), *_styles(reference, column)])
        assert [bool(getattr(mine, name)) for name in names] == [bool(getattr(theirs, name)) for name in names]
        if theirs.color is not None and theirs.color.number is not None:
            assert mine.color is not None
            assert mine.color.triplet == theirs.color.get_truecolor()


def _styles(text: Text, column: int) -> list[Style]:
    over = [span.style for span in text.spans if span.start <= column < span.end]
    return [Style.parse(style) if isinstance(style, str) else style for style in over]


def test_the_tables_are_bounded() -> None:
    renderer = RowRenderer(COLOURS)
    for number in range(2 * MAX_LINES):
        renderer.strips([f"\x1b[38;2;{number % 256};{number // 256};7mrow {number}"])
    assert len(renderer._lines) <= MAX_LINES


def test_an_unchanged_row_is_the_same_strip() -> None:
    """Panes compare by identity before they refresh (FR-3)."""
    renderer = RowRenderer(COLOURS)
    first = renderer.strips(["\x1b[31mone", "two"])
    second = renderer.strips(["\x1b[31mone", "two"])
    assert all(old is new for old, new in zip(first, second, strict=True))

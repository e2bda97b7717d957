"""Rows of a capture."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from executor.tmux.rows import captured, standalone, unvis
from executor.tmux.version import TmuxVersion

SGR = ["0", "1", "3", "0;1;4", "31", "39", "38;5;200", "38;2;1;2;3", "94", "44", "48;5;17", "49", "104", "58;5;1", "59"]


def test_a_style_that_runs_on_opens_every_row_it_covers() -> None:
    """A row cut out of its screen looks as it did on it (screens.md: styles are closed per row)."""
    rows = standalone([b"plain \x1b[1m\x1b[31mred", b"on", b"", b"\x1b[0mplain again"])
    assert rows == (
        "plain \x1b[1m\x1b[31mred\x1b[0m",
        "\x1b[1;31mon\x1b[0m",
        "",
        "plain again",
    )


def test_line_drawing_becomes_box_characters() -> None:
    """tmux captures the second character set as shifted letters."""
    assert standalone([b"\x0elqqk", b"x\x0fx"]) == ("┌──┐", "│x")


def test_nothing_but_text_and_styles_is_left() -> None:
    """Control characters never reach the operator's terminal."""
    hostile = b"a\x1b]8;;http://x\x1b\\b\x1b]8;;\x1b\\c\x1b[2Jd\x07e\x1bf\xc2\x9bg\xff"
    (row,) = standalone([hostile])
    assert row == "abcdefg�"
    assert not re.search(r"[\x00-\x1f\x7f-\x9f]", row)


words = st.one_of(st.sampled_from(SGR).map(lambda code: f"\x1b[{code}m"), st.text("ab ~é", max_size=3))


@given(st.lists(st.lists(words, max_size=6).map("".join), max_size=8))
def test_standalone_rows_mean_what_the_capture_meant(rows: list[str]) -> None:
    """Every character keeps the style it had, whichever row it is read from first."""
    pen: tuple[object, ...] = NORMAL
    for raw, row in zip(rows, standalone(row.encode() for row in rows), strict=True):
        expected, pen = _styled(raw, pen)
        drawn, after = _styled(row, NORMAL)
        assert drawn == expected
        assert after == NORMAL


NORMAL: tuple[object, ...] = (frozenset(), "", "", "")


def _styled(row: str, pen: tuple[object, ...]) -> tuple[list[tuple[str, tuple[object, ...]]], tuple[object, ...]]:
    """Each character with its style, by a reading of SGR that shares nothing with the one under test."""
    drawn = []
    for code, char in re.findall(r"\x1b\[([0-9;]*)m|(.)", row):
        if char:
            drawn.append((char, pen))
        else:
            pen = _after(pen, [int(number or 0) for number in code.split(";")])
    return drawn, pen


def _after(pen: tuple[object, ...], numbers: list[int]) -> tuple[object, ...]:
    attributes, *colours = pen
    assert isinstance(attributes, frozenset)
    while numbers:
        code = numbers.pop(0)
        if code == 0:
            attributes, colours = frozenset(), ["", "", ""]
        elif code in (38, 48, 58):
            count = 2 if numbers[0] == 5 else 4
            colours[(code - 38) // 10] = str(numbers[:count])
            del numbers[:count]
        elif code in (39, 49, 59):
            colours[(code - 39) // 10] = ""
        elif code < 30:
            attributes |= {code}
        else:
            colours[0 if code // 10 in (3, 9) else 1] = str(code)
    return (attributes, *colours)


@given(st.binary(max_size=60))
def test_unvis_undoes_what_old_tmux_encodes(data: bytes) -> None:
    """tmux before 3.4 shows buffers vis-encoded: octal, C letters, doubled backslashes."""
    plain = data.replace(b"\\", b"")
    octal = b"".join(b"\\%03o" % byte if byte < 32 or byte > 126 else bytes([byte]) for byte in plain)
    assert unvis(octal) == plain
    assert unvis(rb"a\\b\$\n\s") == b"a\\b$\n "


def test_old_and_new_servers_give_the_same_rows() -> None:
    """The buffer's closing newline is not a row."""
    old = captured([(), (rb"\033[31mx\\y\$", b"", b""), ()], TmuxVersion(3, 3, "a"))
    middle = captured([(), (b"\x1b[31mx\\y$", b"", b""), ()], TmuxVersion(3, 5))
    new = captured([(b"\x1b[31mx\\y$", b"")], TmuxVersion(3, 6))
    assert old == middle == new == ("\x1b[31mx\\y$\x1b[0m", "")


def test_an_overline_is_not_taken_for_blinking() -> None:
    """tmux writes it as 5:3 in a capture; the same digits in a colour stay."""
    rows = (b"\x1b[0;9;5:3mover\x1b[0m", b"\x1b[58:5:3mred\x1b[0m \x1b[5mblink")
    assert standalone(rows) == ("\x1b[9;53mover\x1b[0m", "\x1b[58:5:3mred\x1b[0m \x1b[5mblink\x1b[0m")

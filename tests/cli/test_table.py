"""Aligned text that fits the terminal."""

from __future__ import annotations

from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli import output, table
from app.cli.table import cut, facts, padded, width_of
from app.cli.table import table as make_table

WORDS = st.text(max_size=20)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 40 columns that shows colours."""
    monkeypatch.setattr(output, "is_terminal", lambda _: True)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")


def test_columns_are_aligned_whatever_they_hold() -> None:
    """PAM-CLI-035: wide characters count twice, combining marks not at all."""
    made = make_table(("ID", "TITLE", "N"), [("1", "漢字", "x"), ("22", "e\u0301te", "y")], empty="")
    assert made.split("\n") == ["ID  TITLE  N", "1   漢字   x", "22  e\u0301te    y"]


def test_no_rows_say_so() -> None:
    assert make_table(("ID",), [], empty="None.") == "None."


def test_piped_tables_are_whole_and_have_no_colour() -> None:
    assert make_table(("STATUS", "TITLE"), [("done", "x" * 300)], empty="").endswith("x" * 300)


@pytest.mark.usefixtures("terminal")
def test_a_terminal_gets_colours_and_lines_that_fit() -> None:
    made = make_table(("STATUS", "TITLE", "MORE"), [("done", "x" * 300, "y" * 30)], empty="")
    head, line = made.split("\n")
    assert "\x1b[32mdone  \x1b[0m" in line
    plain = line.replace("\x1b[32m", "").replace("\x1b[0m", "")
    assert len(plain) == 40
    assert plain.count("…") == 2
    assert len(head) <= 40


@pytest.mark.usefixtures("terminal")
def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in make_table(("STATUS",), [("done",)], empty="")


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5))
def test_nothing_a_terminal_acts_on_gets_through(rows: list[tuple[str, str]]) -> None:
    made = make_table(("A", "B"), rows, empty="")
    assert made.count("\n") == len(rows)
    assert not [char for char in made.replace("\n", "") if category(char) in ("Cc", "Cs", "Zl", "Zp")]


@given(st.text(max_size=30), st.integers(min_value=0, max_value=20))
def test_padding_is_exact(text: str, width: int) -> None:
    clean = output.clean_line(text)
    assert width_of(padded(clean, width)) == width
    assert width_of(cut(clean, width)) <= width


def test_facts_indent_further_lines_and_leave_out_what_is_not_there() -> None:
    assert (
        facts([("id", "1"), ("about", "a\nb\x1b[2J"), ("none", None), ("empty", "")])
        == "id     1\nabout  a\n       b[2J"
    )
    assert table.section("T", "") == ""

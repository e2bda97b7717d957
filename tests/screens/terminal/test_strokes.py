"""Keys read from every encoding and written in the one a program asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screens.terminal.strokes import ALT, CTRL, SHIFT, Stroke, named, pasted, read, shown, write

PLAIN: frozenset[str] = frozenset()
OTHER = frozenset({"other_keys"})


@pytest.mark.parametrize(
    ("sequence", "stroke"),
    [
        ("\x1d", Stroke("]", CTRL)),
        ("\x1b[93;5u", Stroke("]", CTRL)),
        ("\x1b[93;133u", Stroke("]", CTRL)),  # num lock is on
        ("\x1b[93;5:1u", Stroke("]", CTRL)),
        ("\x1b[27;5;93~", Stroke("]", CTRL)),
        ("\x1b[252::93;5u", Stroke("ü", CTRL, base="]")),
        ("\x1b[24~", Stroke("f12")),
        ("\x1b[24;129~", Stroke("f12")),
        ("\x1b[A", Stroke("up")),
        ("\x1bOA", Stroke("up")),
        ("\x1b[1;5A", Stroke("up", CTRL)),
        ("\x1b[Z", Stroke("tab", SHIFT)),
        ("\x1b[9;2u", Stroke("tab", SHIFT)),
        ("\x1bx", Stroke("x", ALT)),
        ("\x1b\x01", Stroke("a", ALT | CTRL)),
        ("\x1b[97;;97u", Stroke("a", 0, "a")),
        ("\x1b[97;2;65u", Stroke("a", SHIFT, "A")),
        ("\x1b[0;;26085:26412u", Stroke("", 0, "日本")),
        ("\x1b[57404u", Stroke("5", 0, "5")),
        ("\x1b[[B", Stroke("f2")),
        ("\r", Stroke("enter")),
        ("\x7f", Stroke("backspace")),
        ("É", Stroke("é", SHIFT, "É")),
    ],
)
def test_a_key_is_read(sequence: str, stroke: Stroke) -> None:
    assert read(sequence) == stroke


@pytest.mark.parametrize("sequence", ["\x1b[97;1:3u", "\x1b[57441;2u", "\x1b[99~", "\x1b[?1u", "\x1b[200~", ""])
def test_what_is_no_key_is_none(sequence: str) -> None:
    """A key that was let go, shift by itself, an unknown number, an answer."""
    assert read(sequence) is None


@pytest.mark.parametrize("sequence", ["\x1d", "\x1b[93;5u", "\x1b[93;69u", "\x1b[27;5;93~", "\x1b[252::93;5u"])
def test_the_key_that_leaves_is_known(sequence: str) -> None:
    """FR-49."""
    stroke = read(sequence)
    assert stroke is not None
    assert stroke.is_key(named("ctrl+]"))
    assert stroke.is_key(named("ctrl+right_square_bracket"))
    assert not stroke.is_key(named("f12"))


def test_a_text_without_a_key_is_no_key_that_leaves() -> None:
    """What an input method commits."""
    stroke = read("\x1b[0;;26085u")
    assert stroke is not None
    assert not stroke.is_key(named("f12"))


@pytest.mark.parametrize(
    ("name", "plain", "other", "kitty"),
    [
        ("a", b"a", b"a", b"a"),
        ("A", b"A", b"A", b"A"),
        ("ctrl+a", b"\x01", b"\x01", b"\x1b[97;5u"),
        ("ctrl+shift+a", b"\x01", b"\x1b[97;6u", b"\x1b[97;6u"),
        ("alt+x", b"\x1bx", b"\x1bx", b"\x1b[120;3u"),
        ("alt+ctrl+x", b"\x1b\x18", b"\x1b\x18", b"\x1b[120;7u"),
        ("ctrl+space", b"\x00", b"\x00", b"\x1b[32;5u"),
        ("enter", b"\r", b"\r", b"\r"),
        ("shift+enter", b"\r", b"\x1b[13;2u", b"\x1b[13;2u"),
        ("alt+enter", b"\x1b\r", b"\x1b\r", b"\x1b[13;3u"),
        ("tab", b"\t", b"\t", b"\t"),
        ("shift+tab", b"\x1b[Z", b"\x1b[Z", b"\x1b[9;2u"),
        ("backspace", b"\x7f", b"\x7f", b"\x7f"),
        ("escape", b"\x1b", b"\x1b", b"\x1b[27u"),
        ("up", b"\x1b[A", b"\x1b[A", b"\x1b[A"),
        ("ctrl+up", b"\x1b[1;5A", b"\x1b[1;5A", b"\x1b[1;5A"),
        ("f1", b"\x1bOP", b"\x1bOP", b"\x1bOP"),
        ("f12", b"\x1b[24~", b"\x1b[24~", b"\x1b[24~"),
        ("shift+f12", b"\x1b[24;2~", b"\x1b[24;2~", b"\x1b[24;2~"),
        ("delete", b"\x1b[3~", b"\x1b[3~", b"\x1b[3~"),
        ("home", b"\x1b[H", b"\x1b[H", b"\x1b[H"),
        ("é", "é".encode(), "é".encode(), "é".encode()),
    ],
)
def test_a_key_is_written(name: str, plain: bytes, other: bytes, kitty: bytes) -> None:
    assert (write(named(name), PLAIN, 0), write(named(name), OTHER, 0), write(named(name), PLAIN, 1)) == (
        plain,
        other,
        kitty,
    )


def test_application_cursor_keys() -> None:
    assert write(named("up"), frozenset({"app_cursor"}), 0) == b"\x1bOA"
    assert write(named("shift+up"), frozenset({"app_cursor"}), 0) == b"\x1b[1;2A"


def test_a_program_that_wants_all_keys_gets_them_with_their_text() -> None:
    assert write(named("A"), PLAIN, 1 | 8 | 16) == b"\x1b[97;2;65u"
    assert write(Stroke("", 0, "日本"), PLAIN, 1 | 8 | 16) == b"\x1b[0;;26085:26412u"


_NAMES = [*"abcxyz09", "]", "enter", "tab", "escape", "up", "left", "home", "f1", "f5", "f12", "delete", "pageup"]


@given(st.sampled_from(_NAMES), st.sampled_from([0, SHIFT, ALT, CTRL, ALT | CTRL, SHIFT | CTRL]))
def test_what_is_written_for_a_kitty_program_reads_as_the_same_key(name: str, modifiers: int) -> None:
    stroke = Stroke(name, modifiers)
    again = read(write(stroke, PLAIN, 1 | 8).decode())
    assert again is not None
    assert (again.key, again.modifiers) == (name, modifiers)


@given(st.text(max_size=40))
def test_reading_never_fails(text: str) -> None:
    for sequence in (text, f"\x1b{text}", f"\x1b[{text}u", f"\x1b[{text}~"):
        read(sequence)


@given(st.text(alphabet="0123456789:;", max_size=12), st.sampled_from("u~ABCHFPQRSZ"))
def test_any_numbers_can_be_read_and_written(fields: str, final: str) -> None:
    stroke = read(f"\x1b[{fields}{final}")
    if stroke is not None:
        for kitty in (0, 1, 31):
            write(stroke, PLAIN, kitty)


def test_a_paste_cannot_end_its_own_brackets() -> None:
    assert pasted("a\x1b[201~b", frozenset({"paste"})) == b"\x1b[200~ab\x1b[201~"
    assert pasted("a\nb", PLAIN) == b"a\nb"


def test_names_as_the_operator_reads_them() -> None:
    assert [shown(name) for name in ("ctrl+right_square_bracket", "f12", "ctrl+g")] == ["ctrl+]", "F12", "ctrl+g"]

"""A raw log as lines of text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cli.plain_log import LONGEST, PlainLog, plain_text


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"one\r\ntwo\r\n", "one\ntwo\n"),
        (b"no newline", "no newline\n"),
        (b"\x1b[1;31mred\x1b[0m and \x1b]8;;http://x\x1b\\link\x1b]8;;\x07\n", "red and link\n"),
        (b"10%\r20%\r100%\r\n", "100%\n"),
        (b"abx\bc\n", "abc\n"),
        (b"a\x1b[3Cb\x1b[9Gc\n", "a   b c\n"),
        (b"\x1b[2J\x1b[Hfirst\x1b[5;1Hsecond", "first\nsecond\n"),
        (b"\n\n\na\n\n\n\nb\n", "a\n\nb\n"),
        ("漢字 é\n".encode(), "漢字 é\n"),
        (b"\xff\xfe\n", "\ufffd\ufffd\n"),
        (b"\x1bPq#0;2;0\x1b\\after\n", "after\n"),
        (b"tab\there\x07\x00\n", "tab\there\n"),
        (b"cut \x1b[38;2;1", "cut\n"),
        (b"", ""),
    ],
)
def test_what_becomes_of_bytes(raw: bytes, text: str) -> None:
    """PAM-CLI-028: line based, without escape sequences."""
    assert plain_text(raw) == text


@given(
    st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\x1b", b"[", b"3", b"m", b"H", b"]", b"\x07", b"\xc3", b"\xa9"]))
)
def test_how_the_bytes_are_cut_makes_no_difference(pieces: list[bytes]) -> None:
    """And no control character is left but newline and tab."""
    plain = PlainLog()
    by_pieces = "".join(plain.take(piece) for piece in pieces) + plain.rest()
    assert by_pieces == plain_text(b"".join(pieces))
    assert all(char.isprintable() or char in "\n\t" for char in by_pieces)


def test_a_line_or_sequence_without_end_does_not_grow_for_ever() -> None:
    plain = PlainLog()
    given = "".join(plain.take(b"x" * 10_000) for _ in range(30))
    assert len(given) >= 30 * 10_000 - 2 * LONGEST
    plain.take(b"\x1b]0;")
    for _ in range(30):
        plain.take(b"y" * 10_000)
    assert plain.take(b"\nafter\n").endswith("after\n")

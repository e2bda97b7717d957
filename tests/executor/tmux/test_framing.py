"""Framing of a control client's stream."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from executor.tmux.framing import (
    Attached,
    Exiting,
    Framer,
    OutOfStep,
    Reply,
    SessionsChanged,
)

STREAM = (
    b"%begin 1700000000 10 0\n%end 1700000000 10 0\n"
    b"%session-changed $0 pam-hub\n"
    b"%begin 1700000001 11 1\nfirst\n%end 1700000001 12 1\n%end\n%begin 1 2 1\n%output %1 x\n"
    b"%end 1700000001 11 1\n"
    b"%sessions-changed\n%unlinked-window-close @7\n%output %3 a\\015\\012\\134b\n%layout-change @1 x\n"
    b"%begin 1700000002 12 1\ncan't find session: pam-00000000\n%error 1700000002 12 1\n"
    b"%exit server exited\n"
)
MEANING = [
    Reply(True, (), ours=False),
    Attached(),
    Reply(True, (b"first", b"%end 1700000001 12 1", b"%end", b"%begin 1 2 1", b"%output %1 x"), ours=True),
    SessionsChanged(),
    Reply(False, (b"can't find session: pam-00000000",), ours=True),
    Exiting("server exited"),
]


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_meaning_does_not_depend_on_how_the_bytes_arrive(cuts: list[int]) -> None:
    """FR-56: what stands inside a reply is never taken for tmux's own words."""
    framer = Framer()
    edges = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[start:end] for start, end in pairwise(edges)]
    assert [item for piece in pieces for item in framer.feed(piece)] == MEANING


@given(st.lists(st.binary().map(lambda line: line.replace(b"\n", b"")), max_size=10))
def test_a_reply_holds_exactly_its_lines(lines: list[bytes]) -> None:
    """FR-56."""
    lines = [line for line in lines if line not in (b"%end 5 6 1", b"%error 5 6 1")]
    stream = b"%begin 5 6 1\n" + b"".join(line + b"\n" for line in lines) + b"%end 5 6 1\n"
    assert list(Framer().feed(stream)) == [Reply(True, tuple(lines), ours=True)]


def test_an_end_without_a_beginning_is_out_of_step() -> None:
    """A stream that lost its order is given up instead of misread."""
    assert list(Framer().feed(b"%end 1 2 1\n")) == [OutOfStep("%end 1 2 1")]

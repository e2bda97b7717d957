"""Frames between control room and helper: whole whatever the pieces, and never more than they should be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.terminal.protocol import INPUT, WORD, Frames, Garbled, decode_word, encode, encode_word


@given(st.lists(st.tuples(st.sampled_from([INPUT, WORD, b"?"]), st.binary(max_size=300))), st.data())
def test_frames_come_out_as_they_went_in(sent: list[tuple[bytes, bytes]], data: st.DataObject) -> None:
    stream = b"".join(encode(kind, body) for kind, body in sent)
    frames, taken = Frames(), []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        taken += list(frames.feed(stream[:size]))
        stream = stream[size:]
    assert taken == sent


@given(st.text())
def test_any_text_can_be_said(text: str) -> None:
    ((kind, body),) = Frames().feed(encode_word("copy", text=text))
    assert (kind, decode_word(body)) == (WORD, {"say": "copy", "text": text})


def test_bytes_that_are_no_text_can_be_said() -> None:
    """A directory's name, an environment variable."""
    name = b"caf\xe9".decode("utf-8", "surrogateescape")
    ((_, body),) = Frames().feed(encode_word("open", cwd=name))
    assert decode_word(body)["cwd"] == name


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"say": 1}', b"\xff", b"[" * 100_000])
def test_what_is_no_word_is_garbled(body: bytes) -> None:
    with pytest.raises(Garbled):
        decode_word(body)


def test_an_absurd_length_is_garbled() -> None:
    with pytest.raises(Garbled):
        list(Frames().feed(b"\xff\xff\xff\xffw"))

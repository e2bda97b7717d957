"""What a terminal sends, cut into texts, keys, pastes and reports, wherever the pieces end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screens.terminal.tokens import Token, Tokens

KNOWN = [
    Token("text", "hé🙂\r\x03"),
    Token("key", "\x1b[A"),
    Token("key", "\x1bOP"),
    Token("key", "\x1bx"),
    Token("key", "\x1b[1;5C"),
    Token("key", "\x1b[97;5u"),
    Token("key", "\x1b[27;5;93~"),
    Token("key", "\x1b[1;2R"),
    Token("key", "\x1b[[A"),
    Token("mouse", "\x1b[<0;10;5M"),
    Token("mouse", "\x1b[<35;1;1m"),
    Token("paste", "two\nlines \x1b[A"),
    Token("focus", "\x1b[I"),
    Token("report", "\x1b[?2026;2$y"),
    Token("report", "\x1b[?1u"),
    Token("report", "\x1b[?62;4c"),
    Token("report", "\x1b[24;80R"),
    Token("report", "\x1b[48;30;100;600;800t"),
    Token("report", "\x1b]11;rgb:1/2/3\x1b\\"),
    Token("report", "\x1bP>|tmux 3.4\x1b\\"),
]


def sent(token: Token) -> str:
    return f"\x1b[200~{token.text}\x1b[201~" if token.kind == "paste" else token.text


@given(st.lists(st.sampled_from(KNOWN), max_size=12), st.data())
def test_tokens_come_out_as_they_went_in(tokens: list[Token], data: st.DataObject) -> None:
    stream, reader, found = "".join(map(sent, tokens)), Tokens(), list[Token]()
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += reader.feed(stream[:size])
        stream = stream[size:]
    assert _joined(found) == _joined(tokens)
    assert not reader.waiting


def _joined(tokens: list[Token]) -> list[Token]:
    """Texts that stand side by side are one."""
    joined: list[Token] = []
    for token in tokens:
        if joined and joined[-1].kind == token.kind == "text":
            joined[-1] = Token("text", joined[-1].text + token.text)
        else:
            joined.append(token)
    return joined


@given(st.text(alphabet=st.sampled_from("\x1b[]PO?<>0123;:~AuMR$\\\x07 aé"), max_size=60))
def test_nothing_is_lost_or_added(stream: str) -> None:
    """Whatever comes; the brackets of a paste aside."""
    reader = Tokens()
    found = "".join(token.text for token in reader.feed(stream))
    if "200~" not in stream:
        assert found + reader.flush() == stream


@pytest.mark.parametrize("beginning", ["\x1b", "\x1b[", "\x1b[1;", "\x1bO", "\x1b]11;rgb"])
def test_what_does_not_go_on_can_be_had(beginning: str) -> None:
    reader = Tokens()
    assert list(reader.feed(beginning)) == []
    assert reader.waiting
    assert reader.flush() == beginning
    assert not reader.waiting


def test_a_paste_is_waited_for() -> None:
    reader = Tokens()
    assert list(reader.feed("\x1b[200~half")) == []
    assert not reader.waiting
    assert reader.flush() == ""
    assert list(reader.feed(" of it\x1b[201~x")) == [Token("paste", "half of it"), Token("text", "x")]


def test_a_report_without_an_end_holds_up_nothing_for_ever() -> None:
    assert list(Tokens().feed("\x1b]" + "x" * 5000))

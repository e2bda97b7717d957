"""What is typed on when the terminal is lost."""

from __future__ import annotations

from screens.terminal.aftermath import QUIET_S, Aftermath

CELL = (1.0, 1.0)


class Watched:
    """An aftermath at a time of ours."""

    def __init__(self) -> None:
        self.now = 100.0
        self.over = 0
        self._aftermath = Aftermath(("ctrl+]", "f12"), self._end, lambda: self.now)

    def take(self, data: str, after: float = 0.1) -> str:
        self.now += after
        return self._aftermath.take(data, CELL)

    def _end(self) -> None:
        self.over += 1


def test_what_was_meant_for_the_terminal_does_nothing() -> None:
    watched = Watched()
    assert [watched.take(key) for key in ("x", "y", "\r", "\x1b[A", "\x1b[200~paste\x1b[201~", "日本", "\x03")] == [
        ""
    ] * 7
    assert not watched.over


def test_it_is_over_once_nobody_types() -> None:
    watched = Watched()
    for _ in range(20):
        assert watched.take("x", QUIET_S * 0.9) == ""
    assert watched.take("1", QUIET_S * 1.1) == "1"
    assert watched.over == 1


def test_the_mouse_and_answers_of_the_terminal_go_on() -> None:
    told = "\x1b[<0;1;1M\x1b[I\x1b[?2026;2$y"
    assert Watched().take(f"x{told}y") == told


def test_a_key_that_leaves_ends_it() -> None:
    for key in ("\x1d", "\x1b[93;5u", "\x1b[24~", "\x1b", "\x1b[27u"):
        watched = Watched()
        assert watched.take(key) == ""
        assert watched.over == 1, key

"""A tmux command as words, quoted for where it is sent."""

from __future__ import annotations

import re
from dataclasses import dataclass

from store.errors import InvalidValue

_BARE_WORD = re.compile(r"-?[A-Za-z0-9][A-Za-z0-9-]*")
_QUOTED = {chr(code): f"\\{code:03o}" for code in (*range(1, 32), 127)} | {char: "\\" + char for char in '"\\$'}
# Behind an opening quote tmux expands a tilde to the home directory.
_QUOTED["~"] = "\\176"


@dataclass(frozen=True, slots=True)
class Command:
    """One or more tmux commands that run as one; each gives one reply, and the first failure stops the rest."""

    parts: tuple[tuple[str, ...], ...]

    @property
    def line(self) -> str:
        """As a control client's input, without the newline."""
        return " ; ".join(" ".join(_word(word) for word in part) for part in self.parts)

    @property
    def argv(self) -> list[str]:
        """As arguments of a tmux process, behind its global flags."""
        words: list[str] = []
        for part in self.parts:
            words += [";"] if words else []
            words += [_argument(word) for word in part]
        return words

    def then(self, other: Command) -> Command:
        """This command, and if it succeeds the other."""
        return Command(self.parts + other.parts)


def command(*words: str) -> Command:
    """A single tmux command."""
    return Command((words,))


def dq(text: str) -> str:
    """``text`` as one double-quoted tmux word, byte for byte. Raises InvalidValue on NUL, which tmux cannot hold."""
    if "\0" in text:
        raise InvalidValue("tmux cannot take text that holds a NUL byte; remove it.")
    return '"' + "".join(_QUOTED.get(char, char) for char in text) + '"'


def literal(text: str) -> str:
    """``text`` where tmux expands formats: names, directories."""
    return text.replace("#", "##")


def literal_time(text: str) -> str:
    """``text`` where tmux expands formats and strftime: a pipe's shell command."""
    return literal(text.replace("%", "%%"))


def _word(word: str) -> str:
    return word if _BARE_WORD.fullmatch(word) else dq(word)


def _argument(word: str) -> str:
    # A trailing semicolon of an argument separates commands unless it is escaped.
    return word[:-1] + "\\;" if word.endswith(";") else word

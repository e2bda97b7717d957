"""TOML with the line of every key, so that a fault in a file the operator edits is named where it stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from store.errors import ConfigError

KeyPath = tuple[str, ...]

_PLACE_IN_ERROR = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")
_KEY = r"""(?:[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*')"""
_DOTTED = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"
_HEADER = re.compile(rf"[ \t]*\[\[?[ \t]*({_DOTTED})[ \t]*\]\]?")
_ASSIGNMENT = re.compile(rf"[ \t]*({_DOTTED})[ \t]*=")
_PIECE = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|.',
    re.DOTALL,
)


def parse(text: str, path: Path) -> dict[str, object]:
    """The plain data of ``text``.

    Raises:
        ConfigError: it is not TOML; ``path`` and ``line`` are in the details.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        place = _PLACE_IN_ERROR.search(said)
        line = int(place[1]) if place and place[1] else len(text.splitlines())
        raise fault(f"{_PLACE_IN_ERROR.sub('', said)}.", path, line) from None


def fault(message: str, path: Path, line: int) -> ConfigError:
    """The error for a fault that stands in ``path`` on ``line``, counted from 1."""
    return ConfigError(f"{path}:{line}: {message}", path=str(path), line=line)


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line, counted from 1, on which each table and key of a valid TOML text first stands.

    Keys inside inline tables have no entry: the line of the table is theirs.
    """
    lines: dict[KeyPath, int] = {}
    table: KeyPath = ()
    position = 0
    while position < len(text):
        line = text.count("\n", 0, position) + 1
        if header := _HEADER.match(text, position):
            table = _split(header[1])
            _note(lines, table, line)
            position = header.end()
        elif assignment := _ASSIGNMENT.match(text, position):
            _note(lines, (*table, *_split(assignment[1])), line)
            position = assignment.end()
        position = _end_of_statement(text, position)
    return lines


def _note(lines: dict[KeyPath, int], key: KeyPath, line: int) -> None:
    for depth in range(1, len(key) + 1):
        lines.setdefault(key[:depth], line)


def _split(dotted: str) -> KeyPath:
    return tuple(_unquote(key) for key in re.findall(_KEY, dotted))


def _unquote(key: str) -> str:
    return str(tomllib.loads(f"k = {key}")["k"]) if key[0] in "\"'" else key


def _end_of_statement(text: str, position: int) -> int:
    """Just behind the newline that ends the statement, however many lines its value takes."""
    depth = 0
    for piece, end in _pieces(text, position):
        depth += (piece in ("[", "{")) - (piece in ("]", "}"))
        if piece == "\n" and depth <= 0:
            return end
    return len(text)


def _pieces(text: str, position: int) -> Iterator[tuple[str, int]]:
    for match in _PIECE.finditer(text, position):
        yield match[0], match.end()

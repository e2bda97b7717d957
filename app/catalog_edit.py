"""Changing the operator's own provider entries; comments and order of the file stay as they are."""

from __future__ import annotations

import re
from pathlib import Path

import tomlkit

from app.config_edit import replace_file
from providers import toml_text
from providers.catalog import SHIPPED
from providers.entries import read_entries
from store.errors import ConfigError

_HEAD = """\
# Your own provider entries. What stands here counts before what pam ships, key by key; lists replace.
# Take the # from what you want to change.
"""


def set_enabled(path: Path, name: str, enabled: bool) -> None:
    """Switch a provider on or off. Raises ConfigError; a file that is faulty already is left as it is."""
    read_entries(SHIPPED, path)
    text = _read(path)
    document = tomlkit.parse(text)
    table = document.get(name)
    if table is None:
        table = document[name] = tomlkit.table()
    table["enabled"] = enabled
    _write(path, tomlkit.dumps(document))


def ensure_entry(path: Path, name: str) -> int:
    """The line of an entry in the file, which gets one made of comments where it has none. Raises ConfigError."""
    text = _read(path)
    line = _line_of(text, name)
    if line:
        return line
    before = f"{text.rstrip()}\n\n" if text.strip() else f"{_HEAD}\n"
    _write(path, f"{before}{_skeleton(name)}\n")
    return before.count("\n") + 1


def excerpt(path: Path, line: int, around: int = 3) -> list[tuple[int, str]]:
    """The lines of the file near one of them, with their numbers; none where it cannot be read."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    first = max(line - around, 1)
    return [(first + offset, text) for offset, text in enumerate(lines[first - 1 : line + around])]


def _line_of(text: str, name: str) -> int:
    """Where ``[name]`` stands, even in a text that is no TOML; 0 when it does not."""
    found = re.search(rf"^\s*\[\s*[\"']?{re.escape(name)}[\"']?\s*[\].]", text, re.MULTILINE)
    return text.count("\n", 0, found.end()) + 1 if found else 0


def _skeleton(name: str) -> str:
    """The entry's header, and below it what pam ships as comments."""
    shipped = SHIPPED.read_text(encoding="utf-8")
    lines = shipped.splitlines()
    begin = toml_text.key_lines(shipped).get((name,))
    if begin is None:
        return f"[{name}]"
    body = []
    for line in lines[begin:]:
        if re.match(r"\[", line) and not line.startswith(f"[{name}."):
            break
        body.append(line)
    while body and (not body[-1].strip() or body[-1].startswith("#")):
        body.pop()
    return "\n".join([f"[{name}]", *(f"# {line}".rstrip() for line in body)])


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}. Mend it by hand.", path=str(path)) from error


def _write(path: Path, text: str) -> None:
    try:
        # A link stays one: what it points to is replaced.
        replace_file(path.resolve(), text.rstrip("\n") + "\n")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.", path=str(path)) from error

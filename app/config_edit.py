"""Changing one key of config.toml; comments and order of the operator's file stay as they are."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import tomlkit

from app.config_file import check_config, free_key, from_words, known_key
from app.config_keys import FREE_SECTION
from providers import toml_text
from store.errors import ConfigError
from store.home import FILE_MODE


def set_key(path: Path, dotted: str, words: str) -> None:
    """Write ``dotted`` = ``words`` into the file at ``path``, whole or not at all.

    Raises InvalidValue for an unknown key or a value it cannot have, ConfigError for a file that is faulty already.
    """
    section, _, name = dotted.partition(".")
    if section == FREE_SECTION and name:
        value: object = free_key(name, words)
    else:
        key = known_key(dotted)
        value = from_words(key, words)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        check_config(text, path)
        changed = _with(text, section, name, value)
        check_config(changed, path)
        # A link stays one: what it points to is replaced.
        replace_file(path.resolve(), changed)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}.", path=str(path)) from error


def _with(text: str, section: str, name: str, value: object) -> str:
    document = tomlkit.parse(text)
    table = document.get(section)
    if table is None:
        table = document[section] = tomlkit.table()
    if name not in table:
        placed = _below_its_comment(text, section, name, f"{name} = {tomlkit.item(value).as_string()}")
        if placed is not None:
            return placed
    table[name] = value
    return tomlkit.dumps(document).rstrip("\n") + "\n"


def _below_its_comment(text: str, section: str, name: str, line: str) -> str | None:
    """``text`` with ``line`` under the comment that shows the key's default, as the scaffold has one."""
    lines = text.splitlines()
    header = toml_text.key_lines(text).get((section,))
    for index in range(header or len(lines), len(lines)):
        if lines[index].lstrip().startswith("["):
            return None
        if re.match(rf"#\s*{re.escape(name)}\s*=", lines[index]):
            return "\n".join([*lines[: index + 1], line, *lines[index + 1 :]]) + "\n"
    return None


def replace_file(path: Path, text: str) -> None:
    """Write a file whole or not at all, with the rights it has. Raises OSError."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else FILE_MODE
    descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), mode)
            file.write(text)
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise

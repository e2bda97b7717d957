"""Reading config.toml: every value checked against the table of keys, every fault named with its line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeGuard

from app.config_keys import BY_NAME, FREE_SECTION, KEYS, SECTIONS, Key, Value
from providers import toml_text
from store.errors import ConfigError, InvalidValue
from store.redaction import Redactor

_TRUTH = {"true": True, "false": False}
_KINDS = {
    "text": "a text in quotes",
    "path": "a path in quotes",
    "count": "a whole number",
    "seconds": "a number of seconds",
    "flag": "true or false",
}


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What the operator's file says; empty when there is no file."""

    values: Mapping[str, Value] = field(default_factory=dict)
    """By dotted name; only what the file sets."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """The free table ``[keys]``."""


def read_config(path: Path, *, required: bool = False) -> ConfigFile:
    """The checked content of ``path``. Raises ConfigError with the line of the first fault.

    A file that does not exist is an empty one, unless it is ``required`` because the operator named it.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if required:
            raise ConfigError(f"There is no file {path}. Make one with `pam init`.", path=str(path)) from None
        return ConfigFile()
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise toml_text.fault("This line is not UTF-8; save the file as UTF-8.", path, line) from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.", path=str(path)) from error
    return check_config(text, path)


def check_config(text: str, path: Path) -> ConfigFile:
    """The checked content of a file's text. Raises ConfigError with the line of the first fault."""
    data = toml_text.parse(text, path)
    if not data:
        return ConfigFile()
    lines = toml_text.key_lines(text)
    values: dict[str, Value] = {}
    keys: dict[str, str] = {}
    for section, table in data.items():
        at = lines.get((section,), 1)
        if section not in SECTIONS:
            raise toml_text.fault(_unknown(f"[{section}] is not a section", section, list(SECTIONS)), path, at)
        if not isinstance(table, dict):
            raise toml_text.fault(f"'{section}' is a section: write [{section}] above its keys.", path, at)
        for name, value in table.items():
            try:
                if section == FREE_SECTION:
                    keys[name] = free_key(name, value)
                else:
                    key = known_key(f"{section}.{name}")
                    values[key.dotted] = checked(key, value)
            except InvalidValue as error:
                raise toml_text.fault(error.message, path, lines.get((section, name), at)) from None
    return ConfigFile(values, keys)


def known_key(dotted: str) -> Key:
    """The key of that name. Raises InvalidValue with the nearest one there is."""
    key = BY_NAME.get(dotted)
    if key is not None:
        return key
    section, _, name = dotted.partition(".")
    there = [known.name for known in KEYS if known.section == section]
    if there:
        raise InvalidValue(_unknown(f"[{section}] {name!r} is not a key", name, there), key=dotted)
    raise InvalidValue(_unknown(f"{dotted!r} is not a key", dotted, list(BY_NAME)), key=dotted)


def checked(key: Key, value: object) -> Value:
    """``value`` when the key may have it. Raises InvalidValue otherwise, without ever naming a secret."""
    if key.type == "flag":
        if isinstance(value, bool):
            return value
    elif key.type in ("count", "seconds"):
        if _is_number(value, whole=key.type == "count"):
            return _in_range(key, float(value) if key.type == "seconds" else value)
    elif isinstance(value, str):
        reason = key.wrong(value) if key.wrong else None
        if reason is None:
            return value
        shown = "this value" if key.secret else Redactor({})(repr(value))
        raise InvalidValue(f"[{key.section}] {key.name} cannot be {shown}: {reason}.", key=key.dotted)
    raise InvalidValue(f"[{key.section}] {key.name} must be {_KINDS[key.type]}.", key=key.dotted)


def from_words(key: Key, words: str) -> Value:
    """A value typed on a command line or set in the environment. Raises InvalidValue."""
    if key.type == "flag":
        return checked(key, _TRUTH.get(words.strip().lower(), words))
    if key.type in ("count", "seconds"):
        try:
            number = float(words)
        except ValueError:
            return checked(key, words)
        return checked(key, int(number) if key.type == "count" and number.is_integer() else number)
    return checked(key, words)


def _is_number(value: object, *, whole: bool) -> TypeGuard[int | float]:
    return isinstance(value, int if whole else int | float) and not isinstance(value, bool)


def _in_range(key: Key, number: int | float) -> Value:
    low, high = key.low, key.high
    # Written this way round so that NaN, which TOML knows, is out of range.
    if low is not None and high is not None and not low <= number <= high:
        raise InvalidValue(
            f"[{key.section}] {key.name} = {number:g} is out of range: from {low:g} to {high:g}.", key=key.dotted
        )
    return float(number) if key.type == "seconds" else number


def free_key(action: str, value: object) -> str:
    """``value`` when it can be what an action of ``[keys]`` is set to. Raises InvalidValue."""
    if not isinstance(value, str) or not value.strip():
        raise InvalidValue(f'[keys] {action} must be a key in quotes, as in {action} = "ctrl+t".')
    return value


def _unknown(what: str, word: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, known, n=1, cutoff=0.5)
    return f"{what}; did you mean {near[0]!r}?" if near else f"{what}; there are: {', '.join(known)}."

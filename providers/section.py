"""One table of a catalog file, read key by key with the type each must have; a wrong one is a fault at its line."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from providers.template import Template
from providers.toml_text import KeyPath
from store.errors import ConfigError

Choice = TypeVar("Choice", bound=str)
Report = Callable[[str, KeyPath], ConfigError]
"""Makes the error for a message about the key at this path."""


class Section:
    """Typed access to a table. It remembers which keys were asked for, so that the rest are unknown ones."""

    def __init__(self, data: Mapping[str, object], at: KeyPath, report: Report) -> None:
        self._data = data
        self._at = at
        self._report = report
        self._known: list[str] = []

    def fault(self, message: str, *keys: str) -> ConfigError:
        """The error at the line of a key of this table, or of the table itself."""
        table = f"[{'.'.join(self._at)}] " if self._at else ""
        return self._report(table + message, (*self._at, *keys))

    def has(self, key: str) -> bool:
        """Whether the table holds ``key``."""
        return key in self._data

    def section(self, key: str) -> Section:
        """The table under ``key``; an empty one when there is none."""
        data = self._get(key)
        if data is not None and not isinstance(data, dict):
            raise self.fault(f"'{key}' must be a table.", key)
        return Section(data or {}, (*self._at, key), self._report)

    def text(self, key: str, default: str | None = None) -> str:
        """A string; a fault when it is missing and has no default."""
        value = self._get(key)
        if isinstance(value, str):
            return value
        if value is None and default is not None:
            return default
        raise self.fault(f"'{key}' must be a string." if value is not None else f"'{key}' is missing.", key)

    def flag(self, key: str, default: bool) -> bool:
        """true or false."""
        value = self._get(key)
        if value is not None and not isinstance(value, bool):
            raise self.fault(f"'{key}' must be true or false.", key)
        return default if value is None else value

    def count(self, key: str) -> int | None:
        """A whole number from 1 up, or None when it is not given."""
        value = self._get(key)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise self.fault(f"'{key}' must be a whole number, 1 or more.", key)
        return value

    def number(self, key: str, default: float) -> float:
        """A number from 0 up."""
        value = self._get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            raise self.fault(f"'{key}' must be a number, 0 or more.", key)
        return value

    def choice(self, key: str, allowed: Sequence[Choice], default: Choice | None = None) -> Choice:
        """One of the words allowed."""
        word = self.text(key, default)
        for candidate in allowed:
            if candidate == word:
                return candidate
        raise self.fault(f"'{key}' is '{word}'; it must be one of {', '.join(allowed)}.", key)

    def choices(self, key: str, allowed: Sequence[Choice]) -> tuple[Choice, ...]:
        """Any of the words allowed."""
        words = self.texts(key)
        for word in words:
            if word not in allowed:
                raise self.fault(f"'{key}' has '{word}'; it may hold {', '.join(allowed)}.", key)
        return tuple(candidate for candidate in allowed if candidate in words)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings; empty when it is not given."""
        return self._texts(self._get(key), key)

    def template(self, key: str, default: Template | None = None) -> Template:
        """A list of arguments, in which a list is a group."""
        value = self._get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, list) or not value:
            raise self.fault(
                f"'{key}' must be a list of arguments." if value is not None else f"'{key}' is missing.", key
            )
        return tuple(self._texts(piece, key) if isinstance(piece, list) else self._text(piece, key) for piece in value)

    def table_of_text(self, key: str) -> dict[str, str]:
        """A table whose values are all strings."""
        return {name: self._text(value, key, name) for name, value in self._table(key).items()}

    def table_of_texts(self, key: str) -> dict[str, tuple[str, ...]]:
        """A table whose values are all lists of strings."""
        return {name: self._texts(value, key, name) for name, value in self._table(key).items()}

    def refuse_unknown_keys(self) -> None:
        """Raise a fault for the first key that nobody asked for."""
        for key in self._data:
            if key not in self._known:
                near = difflib.get_close_matches(key, self._known, n=1)
                hint = f"did you mean '{near[0]}'?" if near else f"it may hold {', '.join(self._known)}."
                raise self.fault(f"'{key}' is not a key here; {hint}", key)

    def _get(self, key: str) -> object:
        if key not in self._known:
            self._known.append(key)
        return self._data.get(key)

    def _table(self, key: str) -> Mapping[str, object]:
        return self.section(key)._data

    def _text(self, value: object, *keys: str) -> str:
        if not isinstance(value, str):
            raise self.fault(f"'{'.'.join(keys)}' must hold strings only.", *keys)
        return value

    def _texts(self, value: object, *keys: str) -> tuple[str, ...]:
        if value is not None and not isinstance(value, list):
            raise self.fault(f"'{'.'.join(keys)}' must be a list of strings.", *keys)
        return tuple(self._text(item, *keys) for item in value or ())

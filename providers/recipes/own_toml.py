"""Editing a CLI's own TOML file for one list of tables: comments and everything else stay as they are."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Array

Table = Mapping[str, object]


def with_tables(
    data: bytes | None, key: str, wanted: Sequence[Table], is_ours: Callable[[Table], bool]
) -> bytes | None:
    """The file with exactly these tables of ours in the list under ``key``, behind the others; None when it is so.

    ``is_ours`` tells the tables that may be taken out. Raises ValueError for a file that is not understood.
    """
    text = (data or b"").decode()
    before = tomllib.loads(text)
    present = _tables(before, key)
    others = [table for table in present if not is_ours(table)]
    if [table for table in present if is_ours(table)] == list(wanted):
        return None
    after = _edited(text, key, wanted, [number for number, table in enumerate(present) if is_ours(table)])
    if tomllib.loads(after) != {**before, key: [*others, *wanted]}:
        raise ValueError(f"its {key!r} cannot be changed without changing something else")
    return after.encode()


def _tables(document: Table, key: str) -> list[Table]:
    found = document.get(key, [])
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ValueError(f"{key!r} is no list of tables")
    return found


def _edited(text: str, key: str, wanted: Sequence[Table], stale: Sequence[int]) -> str:
    try:
        document = tomlkit.parse(text)
        tables = document.get(key)
        if not tables:
            document.pop(key, None)
            tables = tomlkit.aot()
            document.append(key, tables)
        if not isinstance(tables, AoT | Array):
            raise ValueError(f"{key!r} stands in several places")
        for number in reversed(stale):
            del tables[number]
        for table in wanted:
            tables.append(_item(table, inline=isinstance(tables, Array)))
        return tomlkit.dumps(document)
    except (TOMLKitError, KeyError, IndexError, TypeError) as error:
        raise ValueError(f"{key!r} cannot be changed: {error}") from error


def _item(values: Table, inline: bool) -> tomlkit.items.Table | tomlkit.items.InlineTable:
    item = tomlkit.inline_table() if inline else tomlkit.table()
    for name, value in values.items():
        item.append(name, value)
    return item

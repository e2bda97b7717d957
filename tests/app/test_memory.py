"""What the control room remembers of itself, in a file of its home (session restore, saved filters)."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.model import memory
from store.errors import InvalidValue, StoreUnavailable

_TEXT = st.text(st.characters(codec="utf-8"))
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)


def test_nothing_is_remembered_at_first_and_each_key_stands_for_itself(tmp_path: Path) -> None:
    file = tmp_path / "room.json"
    assert memory.read(file) == {}
    memory.change(file, "filters", {"mine": "@ann"})
    memory.change(file, "folded", ["a", "b"])
    assert memory.read(file) == {"filters": {"mine": "@ann"}, "folded": ["a", "b"]}
    memory.change(file, "folded", None)
    assert memory.read(file) == {"filters": {"mine": "@ann"}}


def test_only_the_operator_may_read_it(tmp_path: Path) -> None:
    file = tmp_path / "home" / "room.json"
    memory.change(file, "seen", 1)
    assert file.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in file.parent.iterdir()) == ["room.json", "room.lock"]


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", '"a"', "\x00", "[" * 100_000])
def test_a_damaged_file_remembers_nothing_and_is_replaced(tmp_path: Path, text: str) -> None:
    file = tmp_path / "room.json"
    file.write_text(text, encoding="utf-8")
    assert memory.read(file) == {}
    memory.change(file, "seen", 1)
    assert json.loads(file.read_text(encoding="utf-8")) == {"seen": 1}


def test_two_control_rooms_lose_nothing_of_each_other(tmp_path: Path) -> None:
    file = tmp_path / "room.json"
    with ThreadPoolExecutor(8) as rooms:
        list(rooms.map(lambda number: memory.change(file, f"key-{number}", number), range(40)))
    assert memory.read(file) == {f"key-{number}": number for number in range(40)}


def test_what_is_no_json_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    file = tmp_path / "room.json"
    memory.change(file, "seen", 1)
    with pytest.raises(InvalidValue, match="folded cannot be remembered"):
        memory.change(file, "folded", {1, 2})
    assert memory.read(file) == {"seen": 1}


def test_a_home_that_cannot_be_written_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("not a directory", encoding="utf-8")
    with pytest.raises(StoreUnavailable, match="cannot be written"):
        memory.change(tmp_path / "home" / "room.json", "seen", 1)


@given(value=_JSON)
def test_what_is_remembered_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    file = tmp_path_factory.mktemp("memory") / "room.json"
    memory.change(file, "key", value)
    assert memory.read(file).get("key") == value

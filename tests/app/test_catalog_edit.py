from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.catalog_edit import ensure_entry, excerpt, set_enabled
from providers.catalog import SHIPPED
from providers.entries import read_entries
from store.errors import ConfigError

NAMES = tuple(read_entries(SHIPPED))


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_is_made_of_comments_and_changes_nothing(tmp_path: Path, name: str) -> None:
    path = tmp_path / "providers.toml"
    line = ensure_entry(path, name)
    lines = path.read_text().splitlines()
    assert lines[line - 1] == f"[{name}]"
    assert read_entries(SHIPPED, path) == read_entries(SHIPPED)
    assert (path.stat().st_mode & 0o777) == 0o600
    assert ensure_entry(path, name) == line
    assert path.read_text().splitlines() == lines


@pytest.mark.parametrize("name", NAMES)
def test_the_comments_of_an_entry_are_what_is_shipped(tmp_path: Path, name: str) -> None:
    path = tmp_path / "providers.toml"
    line = ensure_entry(path, name)
    lines = path.read_text().splitlines()[line - 1 :]
    path.write_text("\n".join([lines[0], *(each.removeprefix("# ") for each in lines[1:])]))
    assert read_entries(path)[name] == read_entries(SHIPPED)[name]


def test_a_second_entry_stands_below_the_first(tmp_path: Path) -> None:
    path = tmp_path / "providers.toml"
    path.write_text('# mine\n[claude]\nbin = "/opt/claude" # here\n')
    assert ensure_entry(path, "claude") == 2
    line = ensure_entry(path, "codex")
    assert path.read_text().splitlines()[line - 1] == "[codex]"
    assert path.read_text().startswith('# mine\n[claude]\nbin = "/opt/claude" # here\n')


def test_an_entry_is_found_in_a_text_that_is_no_toml(tmp_path: Path) -> None:
    path = tmp_path / "providers.toml"
    path.write_text('[claude]\nbin = "unclosed\n[codex]\n')
    assert ensure_entry(path, "codex") == 3


def test_switching_keeps_comments_and_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "providers.toml"
    path.write_text('# mine\n[claude]\nbin = "/opt/claude" # here\n')
    set_enabled(path, "claude", False)
    set_enabled(path, "codex", False)
    entries = read_entries(SHIPPED, path)
    assert (entries["claude"].enabled, entries["codex"].enabled, entries["demo"].enabled) == (False, False, True)
    assert path.read_text().startswith('# mine\n[claude]\nbin = "/opt/claude" # here\nenabled = false\n')
    set_enabled(path, "claude", True)
    assert read_entries(SHIPPED, path)["claude"].enabled


def test_a_faulty_file_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "providers.toml"
    path.write_text('[claude]\nprompt = "telepathy"\n')
    with pytest.raises(ConfigError, match="telepathy"):
        set_enabled(path, "claude", False)
    assert path.read_text() == '[claude]\nprompt = "telepathy"\n'


def test_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    path = tmp_path / "providers.toml"
    path.symlink_to(tmp_path / "dotfiles" / "providers.toml")
    set_enabled(path, "claude", False)
    assert path.is_symlink()
    assert (tmp_path / "dotfiles" / "providers.toml").exists()


def test_lines_around_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "providers.toml"
    path.write_text("\n".join("abcdefghij"))
    assert excerpt(path, 1, 1) == [(1, "a"), (2, "b")]
    assert excerpt(path, 5, 1) == [(4, "d"), (5, "e"), (6, "f")]
    assert excerpt(path, 10, 1) == [(9, "i"), (10, "j")]
    assert excerpt(tmp_path / "none", 5) == []


@given(text=st.text(max_size=200), line=st.integers(1, 30))
def test_any_file_has_an_excerpt(tmp_path_factory: pytest.TempPathFactory, text: str, line: int) -> None:
    path = tmp_path_factory.mktemp("any") / "providers.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert all(line - 3 <= number <= line + 3 for number, _ in excerpt(path, line))

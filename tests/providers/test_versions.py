"""Versions as programs print them, against ranges as the catalog writes them (PAM-PROV-010)."""

from __future__ import annotations

import pytest

from providers.versions import find_version, is_range, within


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("2.1.332 (Claude Code)", "2.1.332"),
        ("codex-cli 0.171.0", "0.171.0"),
        ("tool v1.2", "1.2"),
        ("Python 3 build 20261130", None),
        ("", None),
    ],
)
def test_the_version_is_found_in_what_a_program_prints(printed: str, version: str | None) -> None:
    assert find_version(printed) == version


@pytest.mark.parametrize(
    ("version", "wanted", "fits"),
    [
        ("2.1.332", ">=2.1.197, <3", True),
        ("2.1.99", ">=2.1.197, <3", False),
        ("3.0", ">=2.1.197, <3", False),
        ("2.10", ">2.9", True),
        ("1.2", "==1.2.0", True),
        ("1.2.3", "!=1.2.3", False),
        ("9.9", "", True),
    ],
)
def test_a_version_is_held_against_a_range(version: str, wanted: str, fits: bool) -> None:
    assert within(version, wanted) is fits


def test_what_is_no_range_is_told_from_one() -> None:
    assert is_range("") and is_range(">=1, <2.5.0,!=2")
    assert not any(map(is_range, ("~2", ">=", "1.0", ">=1 <2", ">=1,,<2")))

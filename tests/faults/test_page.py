"""The page on reliability says what the tests do, and leaves no field report out."""

from __future__ import annotations

import re
from pathlib import Path

from tests.faults.agents import KINDS
from tests.faults.faults import FAULTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text()

REPORTS = (1, 2, 3, 4, 7, 9, *range(11, 16), 17, 18, *range(20, 27), 28, 29, *range(31, 35), 36, 37, 39, *range(41, 45))
"""Field reports on speed, status, reconciling and data; the numbers between were given to none."""
TMUX_REPORTS = (67, 68, 69)


def test_every_test_it_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    sources = "".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert named
    assert sorted(name for name in named if f"def {name}(" not in sources) == []


def test_every_field_report_is_answered() -> None:
    answered = {int(number) for number in re.findall(r"\bFR-(\d+)\b", PAGE.partition("## Field reports")[2])}
    assert sorted({*REPORTS, *TMUX_REPORTS} - answered) == []


def test_a_report_that_cannot_occur_has_its_decision() -> None:
    decisions = (ROOT / "docs" / "decisions.md").read_text()
    for row in re.findall(r"^\| (FR-.*) \|.*cannot occur", PAGE, flags=re.M):
        for report in re.findall(r"FR-\d+", row):
            assert re.search(rf"\b{report}\b", decisions), report


def test_it_counts_right() -> None:
    given = ("start", "gate", "stop")
    assert f"{len(set(FAULTS) - {*given})} kinds of faults" in PAGE
    assert f"{len(KINDS)} kinds" in PAGE

"""A few seeds of the fault suite, short enough for every run of the tests; ``make faults`` plays any number."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.driver import play, schedule

FAULTS_EACH = 10


@pytest.mark.timeout(180)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_schedule_of_faults_makes_pam_lie_lose_or_double_an_agent(tmp_path: Path, seed: int) -> None:
    """PAM-TEST-007, 008, 011, PAM-LIVE-012, FR-20, FR-22, FR-29, FR-31, FR-32, FR-34, FR-67."""
    play(tmp_path, seed, FAULTS_EACH)


def test_a_seed_is_a_schedule() -> None:
    """The same seed plays the same steps, so that a failure can be played again."""
    assert schedule(7, 30) == schedule(7, 30)
    assert schedule(7, 30) != schedule(8, 30)

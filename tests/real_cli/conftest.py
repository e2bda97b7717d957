"""What every test of a real CLI needs: the CLI, the stub model, a repository, and a home where it ran before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from providers.stub import StubModel
from tests.support import real_clis


@pytest.fixture(scope="session")
def claude_programs() -> Path:
    """The directory with the real ``claude``; the test is skipped where it cannot be installed."""
    return real_clis.install("claude")


@pytest.fixture
def stub() -> Iterator[StubModel]:
    """A model server of ours."""
    with StubModel() as server:
        yield server


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """The small git repository that the agent works in."""
    return real_clis.make_repository(tmp_path / "repository")


@pytest.fixture
def claude_environment(own_home: Path, claude_programs: Path, stub: StubModel, repository: Path) -> dict[str, str]:
    """The environment of an operator who has used claude in the repository before."""
    real_clis.answer_first_run_questions("claude", own_home, repository)
    return real_clis.scrubbed_environment("claude", own_home, stub.url)

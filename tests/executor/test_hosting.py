"""Being the executor: what keeps it from coming up is told, and its place is free again."""

from __future__ import annotations

import pytest

from executor import lock
from executor.background import LoopThread
from store.errors import ExecutorNotRunning
from tests.support.stage import Stage


def test_an_executor_that_is_not_up_in_time_is_told_and_gives_its_place_back(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 8 and a sentence, not a failure that pam does not know."""

    def too_late(_: LoopThread) -> None:
        raise TimeoutError

    monkeypatch.setattr(LoopThread, "start", too_late)
    with pytest.raises(ExecutorNotRunning, match=r"not up within 30 s.*pam doctor"), stage.executor():
        pass
    assert not lock.state(stage.home).running

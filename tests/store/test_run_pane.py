"""A run knows its pane, whichever came first: the executor's note or the wrapper's word."""

from __future__ import annotations

import pytest

from store import runs
from store.signals import ingest
from tests.store.world import World, signal


def test_the_wrapper_names_the_pane_that_an_executor_could_not_note(world: World) -> None:
    """One that was killed between making the session and `set_pane`: attach must still find it."""
    run = world.run("spawning")
    ingest(world.store, signal(run, "started", pid=7, pane="%41"))
    assert runs.get(world.store, run.id).pane_id == "%41"


@pytest.mark.parametrize("said", [None, "", 41, "41", "%", "%41 ; kill-server", ["%41"]])
def test_what_is_no_pane_changes_none(world: World, said: object) -> None:
    """PAM-TMUX-022: it is a target later on. A wrapper outside tmux says nothing."""
    run = world.run("spawning")
    runs.set_pane(world.store, run.id, 1, "%7", actor="executor")
    ingest(world.store, signal(run, "started", pid=7, pane=said))
    assert runs.get(world.store, run.id).pane_id == "%7"

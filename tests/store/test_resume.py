"""Going on with the conversation of a run that ended, in a new run."""

from __future__ import annotations

import pytest

from store import runs
from store.errors import Conflict
from tests.store.world import World, bring, events

ME = "operator"


def test_a_resumed_run_is_a_new_one_with_the_old_ways(world: World) -> None:
    """Same item, host, directory, model and arguments; the old run stays as it ended."""
    old = world.run("exited", conversation_id="c-1", model="opus", args=["-v"])
    new = runs.resume(world.store, old.id, prompt="And now the docs", actor=ME)
    assert (new.status, new.attempt, new.resumed_from, new.conversation_id) == ("pending", 1, old.id, "c-1")
    assert (new.task_id, new.cwd, new.model, new.args) == (old.task_id, old.cwd, "opus", ("-v",))
    assert (new.pinned_host_id, new.prompt) == (old.host_id, "And now the docs")
    assert events(world.store)[-1].payload["resumed_from"] == old.id
    assert runs.get(world.store, old.id) == old


def test_only_what_has_ended_is_resumed(world: World) -> None:
    """Two agents in one conversation would overwrite each other's words."""
    running = world.run("running", conversation_id="c-1")
    with pytest.raises(Conflict, match="`pam run send"):
        runs.resume(world.store, running.id, actor=ME)
    old = world.run("stopped", conversation_id="c-2")
    new = runs.resume(world.store, old.id, actor=ME)
    with pytest.raises(Conflict, match=f"{new.session_name} is in this conversation already"):
        runs.resume(world.store, old.id, actor=ME)
    bring(world, new, "stopped")
    assert runs.resume(world.store, new.id, actor=ME).resumed_from == new.id


def test_a_failed_run_that_is_about_to_come_back_is_not_resumed(world: World) -> None:
    """It would be in the conversation, too."""
    old = world.run("running", conversation_id="c-1")
    failed = runs.fail(world.store, old.id, 1, "session_lost", actor="executor")
    assert failed is not None and failed.retry_at is not None
    with pytest.raises(Conflict, match="about to be restarted"):
        runs.resume(world.store, old.id, actor=ME)
    runs.request_stop(world.store, old.id, actor=ME)
    assert runs.resume(world.store, old.id, actor=ME).status == "pending"


def test_without_a_known_conversation_there_is_nothing_to_go_on_with(world: World) -> None:
    """The sentence says what to do."""
    old = world.run("exited")
    with pytest.raises(Conflict, match=r"No conversation of .* is known.*pam run start"):
        runs.resume(world.store, old.id, actor=ME)

"""A question that was answered is noticed although no hook says so (issue: it clears when answered)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial

import pytest

from executor.hosts.link import PaneListing, Unknown
from executor.supervision.answered import MOVES, AnswerWatch
from executor.supervision.ingest import Ingest
from providers.provider import Provider
from providers.recipes.recipe import Said
from store import runs
from store.database import open_store
from store.records import Run, Signal
from store.signals import ingest
from tests.executor.test_silence import Scene
from tests.store.world import TurnedClock

TITLED = Provider("codex", "Codex", ("codex",), "argv", "full_screen", ("native_hook",), asks_title="Action Required")
MOVING = replace(TITLED, name="claude", asks_title="", still_s=20.0)


class Asked:
    """An agent that waits, and what is noticed of it."""

    def __init__(self, scene: Scene, provider: Provider | None) -> None:
        self.scene, self.provider = scene, provider
        self.run = scene.run()
        self.told: list[Said] = []
        self.seq = 0
        self.says("waiting", "Bash: make")
        self.watch = AnswerWatch(scene.station, lambda _: self.provider, say=self._take)

    def says(self, activity: str, note: str | None = None) -> None:
        self.seq += 1
        payload = {"activity": activity, "note": note}
        assert ingest(
            self.scene.store, Signal(self.run.id, 1, "progress", "hook:x", seq=self.seq, payload=payload)
        ).applied

    async def _take(self, _: Run, said: Said) -> None:
        self.told.append(said)

    async def look(self, title: str = "", silent_s: float = 0.0) -> list[Said]:
        """A second goes by, then one look; what was noticed so far."""
        self.scene.pass_s(1)
        self.scene.show((self.run, silent_s))
        listing = self.scene.link.listing
        assert isinstance(listing, PaneListing)
        panes = tuple(replace(pane, title=title) for pane in listing.panes)
        self.scene.link.listing = replace(listing, panes=panes)
        await self.watch.look()
        return self.told


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    clock = TurnedClock()
    store = open_store(None, clock=clock)
    made = Scene(store, clock)
    yield made
    made.ledger.close()
    store.close()


async def test_a_title_that_asked_and_asks_no_more_was_answered(scene: Scene) -> None:
    asked = Asked(scene, TITLED)
    assert await asked.look("⠙ working") == [], "the title comes after the hook"
    assert await asked.look("[ ! ] Action Required | it") == []
    assert await asked.look("[ . ] Action Required | it") == []
    assert await asked.look("⠙ working") == [Said(activity="working")]


async def test_a_screen_that_moves_without_a_pause_was_answered(scene: Scene) -> None:
    asked = Asked(scene, MOVING)
    for _ in range(MOVES - 1):
        assert await asked.look() == []
    assert await asked.look() == [Said(activity="working")]


async def test_one_who_walks_through_the_choices_has_not_answered(scene: Scene) -> None:
    asked = Asked(scene, MOVING)
    for _ in range(10):
        for silent_s in (0, 0, 0, 3):
            assert await asked.look(silent_s=silent_s) == []


async def test_another_question_starts_anew(scene: Scene) -> None:
    asked = Asked(scene, MOVING)
    for _ in range(MOVES - 1):
        await asked.look()
    asked.says("working")
    asked.says("waiting", "Bash: rm")
    assert await asked.look() == []


async def test_what_the_agent_says_while_its_screen_is_looked_at_counts_for_more(scene: Scene) -> None:
    """A question that is taken back: its title goes, and the transcript says that the turn is over."""
    asked = Asked(scene, TITLED)
    await asked.look("[ ! ] Action Required")
    edge = Ingest(scene.station, auto_mark_done=False)
    watch = AnswerWatch(scene.station, lambda _: TITLED, say=partial(edge.say, seen_in="pane"))
    await watch.look()
    seen = scene.link.list_panes

    async def speak_meanwhile() -> PaneListing | Unknown:
        listing = await seen()
        now = runs.get(scene.store, asked.run.id)
        assert await edge.say(now, Said(activity="idle", interrupted=True), holds=lambda _: True)
        return listing

    scene.link.list_panes = speak_meanwhile  # type: ignore[method-assign]
    scene.show((asked.run, 0))
    await watch.look()
    assert runs.get(scene.store, asked.run.id).activity == "idle"


@pytest.mark.parametrize("provider", [None, replace(TITLED, asks_title="")])
async def test_who_gives_no_sign_is_not_looked_at(scene: Scene, provider: Provider | None) -> None:
    asked = Asked(scene, provider)
    for _ in range(2 * MOVES):
        assert await asked.look() == []

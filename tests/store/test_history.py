"""The journal by pages: newest first, narrowed, and never as a whole (issue 5: 1,000,000 events)."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store import history, items
from store.history import MOST_UNREAD, Page, Wanted
from store.models import EventRow
from tests.store.world import World, query


def fill(world: World, topics: list[str]) -> None:
    rows = [{"topic": topic, "actor": "executor", "payload": {"n": n}, "created_at": world.clock()}
            for n, topic in enumerate(topics)]  # fmt: skip
    with world.store.write("t"):
        for start in range(0, len(rows), 500):
            EventRow.insert_many(rows[start : start + 500]).execute()


def walk(world: World, wanted: Wanted, limit: int) -> list[int]:
    found: list[int] = []
    before: int | None = None
    while True:
        page = history.older(world.store, before, wanted, limit=limit)
        found += [event.seq for event in page.events]
        before = page.reached
        if not page.more:
            return found


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=30)
@given(limit=st.integers(1, 60), look=st.integers(1, 40), wanted=st.sampled_from(
    [Wanted(), Wanted(("run.",)), Wanted(without=("run.",)), Wanted(("run.", "host.")), Wanted(("work_item.",))]
))  # fmt: skip
def test_pages_backwards_and_forwards_give_everything_once(
    world: World, monkeypatch: pytest.MonkeyPatch, limit: int, look: int, wanted: Wanted
) -> None:
    if not query(world.store, "SELECT 1 FROM events WHERE topic = 'run.usage_updated'"):
        fill(world, ["run.started", "host.added", "run.usage_updated", "run.failed"] * 25)
    monkeypatch.setattr(history, "LOOK", look)
    every = query(world.store, "SELECT seq, topic FROM events ORDER BY seq DESC")
    expected = [
        seq for seq, topic in every
        if (str(topic).startswith(wanted.topics) if wanted.topics else topic != "run.usage_updated")
        and not (wanted.without and str(topic).startswith(wanted.without))
    ]  # fmt: skip
    assert walk(world, wanted, limit) == expected
    forwards: list[int] = []
    page = Page(more=True)
    while page.more:
        page = history.newer(world.store, page.reached, wanted, limit=limit)
        forwards = [event.seq for event in page.events] + forwards
    assert forwards == expected


def test_words_are_found_in_what_is_said_and_in_the_title_of_the_item(world: World) -> None:
    task = items.create(world.store, world.project.id, "Fix flaky auth tests", actor="t")
    items.edit(world.store, task.id, description="x", actor="t")
    page = history.older(world.store, None, Wanted(words=("FLAKY",)), limit=10)
    assert [event.topic for event in page.events] == ["work_item.updated", "work_item.created"]
    assert page.names[task.id] == "Fix flaky auth tests"
    assert page.names[world.project.id] == world.project.slug
    assert history.older(world.store, None, Wanted(actors=("NOBODY",)), limit=10).events == []


@pytest.mark.parametrize("word", ["%", "_", "'", '"', "*", "\\", "日本", "\x00"])
def test_a_word_is_text_and_nothing_else(world: World, word: str) -> None:
    page = history.older(world.store, None, Wanted(words=(word,)), limit=10)
    assert all(word in json.dumps(dict(event.payload), ensure_ascii=False) for event in page.events)


def test_what_is_new_is_counted_as_far_as_it_matters(world: World) -> None:
    _, head = history.ends(world.store)
    assert history.unread(world.store, head) == 0
    fill(world, ["run.usage_updated", "run.failed"] * (MOST_UNREAD + 5))
    assert history.unread(world.store, head) == MOST_UNREAD
    assert history.unread(world.store, history.ends(world.store)[1] - 2) == 1


def test_an_empty_journal_has_an_empty_page(world: World) -> None:
    with world.store.write("t"):
        EventRow.delete().execute()
    page = history.older(world.store, None, Wanted(), limit=10)
    assert (list(page.events), page.reached, page.more) == ([], 0, False)
    assert history.ends(world.store) == (0, 0)

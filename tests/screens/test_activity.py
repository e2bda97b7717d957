"""The activity: the journal as sentences, narrowed, walked through, live, and as a drawer (PAM-UI-009)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screens import marks
from screens.activity import ActivityDrawer, ActivityScreen
from screens.activity_filter import KINDS, wanted
from screens.activity_state import MOST, PAGE, ActivityState
from screens.board import BoardScreen
from screens.item import ItemScreen
from screens.run import RunScreen
from screens.sentences import TOPICS, sentence
from store.errors import StoreUnavailable
from store.history import Page, Wanted
from store.records import Event
from tests.screens.driving import Driver, driving
from tests.screens.fake_model import NOW, FakeModel, bare, sample, uid

ROOT = Path(__file__).parents[2]


def busy(count: int) -> FakeModel:
    """A journal of ``count`` events about runs, the very first ones about a project."""
    model = sample()
    model.events.clear()
    model.happen(("project.created", {"project_id": model.the_projects[0].id, "name": "checkout"}))
    facts = {"run_id": uid(201), "task_id": uid(10), "attempt": 1}
    model.happen(*[("run.signal_received", {**facts, "kind": "progress", "number": number}) for number in range(count)])
    return model


async def activity(driver: Driver, key: str = "6") -> ActivityScreen:
    await driver.press(key)
    place = await driver.at(ActivityDrawer if key == "A" else ActivityScreen)
    await driver.until(lambda: place._read, "the journal is read")
    return place


def test_every_topic_that_is_journaled_has_a_sentence() -> None:
    named = re.compile(r"\"((?:run|work_item|project|host|worker)\.[a-z_]+)\"")
    files = [*(ROOT / "store").glob("*.py"), *(ROOT / "executor").rglob("*.py")]
    found = {topic for file in files for topic in named.findall(file.read_text(encoding="utf-8"))}
    assert len(found) > 40
    assert found - TOPICS == set()


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
_FACTS = "said failure_reason exit_code ids plan fields usage keys bytes lines silent_s took_s survivors host run_id"
_KEYS = st.sampled_from(_FACTS.split())


@given(topic=st.sampled_from(sorted(TOPICS)) | st.text(max_size=20), facts=st.dictionaries(_KEYS, _JSON))
def test_no_payload_breaks_a_sentence_or_a_mark(topic: str, facts: dict[str, object]) -> None:
    event = Event(1, topic, "hook:x", facts, NOW)
    for said in (sentence(event), marks.about(event, {})):
        assert not any(character in said for character in "\x1b\n\r\t\u202e")
    glyph, _ = marks.mark(event)
    assert len(glyph) == 1
    marks.link(event)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("", Wanted()),
        ("run.", Wanted(topics=("run.",))),
        ("run.prompt work_item. -run.prompt_queued", Wanted(("run.prompt", "work_item."), ("run.prompt_queued",))),
        ("@hook:claude auth", Wanted(actors=("hook:claude",), words=("auth",))),
        ("main.py -", Wanted(words=("main.py",))),
    ],
)
def test_the_filter_line_is_taken_apart(text: str, asked: Wanted) -> None:
    assert wanted(text) == asked


def test_a_topic_that_is_typed_stands_before_the_kind() -> None:
    runs = next(kind for kind in KINDS if kind.name == "Runs")
    assert wanted("auth", runs) == Wanted(("run.",), words=("auth",))
    assert wanted("project.", runs).topics == ("project.",)


def pages(state: ActivityState, first: int, last: int) -> list[Event]:
    return [Event(seq, "run.created", "operator", {}, NOW) for seq in range(last, first - 1, -1)]


def test_a_million_events_are_walked_through_with_few_in_hand() -> None:
    """And back again; nothing is skipped and nothing comes twice."""
    state, count = ActivityState(), 20_000
    state.begin(Page(pages(state, count - PAGE + 1, count), count - PAGE + 1, True), count)
    while True:
        assert len(state.events) <= MOST + PAGE
        assert [a.seq - b.seq for a, b in zip(state.events, state.events[1:], strict=False)].count(1) == (
            len(state.events) - 1
        )
        state.go(len(state.events) - 1)
        if not state.wants_older:
            break
        low = max(state.bottom - PAGE, 1)
        state.append(Page(pages(state, low, state.bottom - 1), low, low > 1))
    assert state.chosen is not None
    assert (state.chosen.seq, state.above, state.below) == (1, True, False)
    while True:
        state.go(0)
        if not state.wants_newer:
            break
        high = min(state.top + PAGE, count)
        state.prepend(Page(pages(state, state.top + 1, high), high, high < count))
        assert len(state.events) <= MOST + PAGE
    assert (state.chosen.seq, state.above, state.below) == (count, False, True)


async def test_the_journal_is_told_newest_first_with_whom_it_is_about() -> None:
    async with driving(sample()) as driver:
        place = await activity(driver)
        await driver.until(lambda: "waits for you: May I run" in driver.text())
        lines = [line for line in driver.text().splitlines() if "Fix flaky auth tests" in line]
        assert "waits for you: May I run" in lines[0]
        assert "asked for" in lines[-1]
        assert place.header.facts.unread == 0


async def test_enter_opens_the_run_and_o_the_item() -> None:
    async with driving(sample()) as driver:
        await activity(driver)
        await driver.press("enter")
        assert (await driver.at(RunScreen)).run_id == uid(201)
        await driver.press("escape")
        await driver.at(ActivityScreen)
        await driver.press("o")
        assert (await driver.at(ItemScreen)).item_id == uid(10)


async def test_keys_and_the_line_narrow_it() -> None:
    async with driving(busy(300)) as driver:
        place = await activity(driver)
        await driver.press("shift+tab", "shift+tab")
        await driver.until(lambda: [each.topic for each in place.state.events] == ["project.created"])
        assert "project made" in driver.text()
        await driver.press("escape")
        await driver.until(lambda: place.kinds.chosen == 0 and len(place.state.events) == PAGE)
        await driver.press("slash", *"work_item.", "enter")
        await driver.until(lambda: not place.state.events and not place.state.below)
        assert "Nothing in the journal matches." in driver.text()
        await driver.press("enter")
        await driver.said("Nothing matches. Press esc to see all of it.")
        await driver.press("escape")
        await driver.until(lambda: len(place.state.events) == PAGE)


async def test_what_is_rare_is_looked_for_as_far_back_as_it_takes() -> None:
    model = busy(900)
    model.look = 100
    async with driving(model) as driver:
        place = await activity(driver)
        await driver.press("slash", *"project.", "enter")
        await driver.until(lambda: len(place.state.events) == 1 and not place.state.below)


async def test_pages_come_as_the_cursor_nears_them_and_the_ends_are_one_key_away() -> None:
    async with driving(busy(5000)) as driver:
        place = await activity(driver)
        assert len(place.state.events) == PAGE
        await driver.press("G")
        await driver.until(lambda: place.state.chosen is not None and place.state.chosen.seq == 1)
        await driver.until(lambda: "The journal begins here." in driver.text())
        for _ in range(20):
            await driver.press("pageup")
        await driver.until(lambda: place.state.chosen is not None and place.state.chosen.seq > 500)
        await driver.press("g")
        await driver.until(lambda: place.state.chosen is not None and place.state.chosen.seq == 5001)
        for _ in range(12):
            await driver.press("pagedown")
        await driver.until(lambda: len(place.state.events) > PAGE)


async def test_new_events_come_on_top_and_never_move_the_cursor_away() -> None:
    model = busy(300)
    facts: dict[str, object] = {"run_id": uid(201), "task_id": uid(10)}
    async with driving(model) as driver:
        place = await activity(driver)
        model.happen(("run.silent", {**facts, "level": "idle", "silent_s": 65}))
        await driver.until(lambda: "has printed nothing for 1m 05s" in driver.text())
        assert place.state.place == 0, "at the top the cursor stays at the top"
        await driver.press("j", "j", "j")
        chosen = place.state.chosen
        model.happen(*[("run.silence_ended", facts) for _ in range(400)])
        await driver.until(lambda: place.state.events[0].seq == len(model.events))
        assert place.state.chosen == chosen
        first, last = place.journal.seen
        assert first <= place.state.place <= last
        await driver.until(lambda: "▲ newer" in driver.text())
        await driver.press("g")
        await driver.until(lambda: place.state.place == 0)


async def test_what_was_looked_at_is_not_new_any_more() -> None:
    model = busy(300)
    async with driving(model) as driver:
        model.seen = 100
        model.happen(("project.updated", {"project_id": model.the_projects[0].id, "fields": ["name"]}))
        await driver.until(lambda: "✉ 202 new" in driver.text())
        await activity(driver)
        await driver.until(lambda: model.seen == 302)
        await driver.press("q")
        await driver.at(BoardScreen)
        await driver.until(lambda: "new" not in driver.text().splitlines()[0])


async def test_the_drawer_lies_over_any_place_and_leads_on() -> None:
    async with driving(sample()) as driver:
        await driver.press("j", "enter")
        run = await driver.at(RunScreen)
        drawer = await activity(driver, "A")
        assert "Do you want to proceed?" in driver.text() or run.is_attached
        await driver.press("A")
        assert await driver.at(RunScreen) is run
        drawer = await activity(driver, "A")
        await driver.press("o")
        await driver.at(ItemScreen)
        await driver.press("escape")
        assert await driver.at(ActivityDrawer) is drawer
        await driver.press("escape")
        assert await driver.at(RunScreen) is run
        await activity(driver, "A")
        await driver.press("1")
        await driver.at(BoardScreen)
        await activity(driver, "A")
        await driver.press("6")
        await driver.until(lambda: type(driver.room.screen) is ActivityScreen)


async def test_a_home_where_nothing_happened_says_what_to_do() -> None:
    async with driving(bare()) as driver:
        await activity(driver)
        assert "Nothing has happened yet." in driver.text()
        await driver.press("enter")
        await driver.said("Nothing has happened yet.")


async def test_a_journal_that_cannot_be_read_is_said_and_tried_again() -> None:
    model = sample()
    model.unreadable = StoreUnavailable("The database is locked. Nothing was written; try again.")
    async with driving(model) as driver:
        await driver.press("6")
        place = await driver.at(ActivityScreen)
        await driver.said("The database is locked.")
        await driver.until(lambda: "The journal cannot be read now." in driver.text())
        model.unreadable = None
        await driver.press("g")
        await driver.until(lambda: place._read and "waits for you" in driver.text())

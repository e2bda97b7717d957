"""The small pure parts: ages, chips, the quick-add line, parents, sentences, confined text."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from screens import chips, parents
from screens.ages import age, ago, moment, span
from screens.confine import confined, one_line
from screens.model import CardView
from screens.quick_add import QuickAdd, arguments, parse
from screens.sentences import sentence
from screens.widgets.spans import clip, wrap
from store.records import Event
from tests.screens.fake_model import NOW, item, run, uid


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-90, "now"), (0, "now"), (59, "now"), (60, "1m"), (3599, "59m"), (3600, "1h"), (86_400, "1d"),
     (13 * 86_400, "13d"), (15 * 86_400, "2w")],
)  # fmt: skip
def test_an_age_has_one_unit_and_is_never_negative(seconds: int, said: str) -> None:
    assert age(NOW - timedelta(seconds=seconds), NOW) == said


def test_a_phrase_a_span_and_a_moment_read_as_one_says_them() -> None:
    assert ago(NOW, NOW) == "just now"
    assert ago(NOW - timedelta(minutes=5), NOW) == "5m ago"
    assert [span(timedelta(seconds=seconds)) for seconds in (-1, 41, 247, 7500, 273_600)] == [
        "0s", "41s", "4m 07s", "2h 05m", "3d 4h",
    ]  # fmt: skip
    assert moment(NOW - timedelta(hours=1), NOW) == "11:04"
    assert moment(NOW - timedelta(days=27), NOW) == "3 Nov 12:04"
    assert moment(NOW - timedelta(days=400), NOW) == "26 Oct 2025"


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        (run(1, 1, activity="working", source="hook:claude"), "● claude 12m working (hook)"),
        (run(1, 1, activity="waiting", source="hook:claude"), "⚑ claude 12m waiting (hook)"),
        (run(1, 1, "codex", activity="idle", source="agent", minutes=0), "○ codex now idle (agent)"),
        (run(1, 1, "shell", minutes=2), "◌ shell 11m unknown"),
        (run(1, 1, status="pending"), "◔ claude 12m pending"),
        (run(1, 1, status="spawning", minutes=0), "◑ claude now starting"),
        (run(1, 1, status="exited", exit_code=0), "✓ claude 12m exited 0"),
        (run(1, 1, status="failed", exit_code=3), "✗ claude 12m failed, exit 3"),
        (run(1, 1, status="failed", exit_code=-9), "✗ claude 12m failed, signal 9"),
        (run(1, 1, status="stopped"), "■ claude 12m stopped"),
        (replace(run(1, 1, status="failed"), failure_reason="host_lost"), "✗ claude 12m failed, host lost"),
        (replace(run(1, 1), stop_requested_at=NOW), "◼ claude now stopping"),
        (replace(run(1, 1, status="failed"), failure_reason="session_lost", retry_at=NOW + timedelta(seconds=20)),
         f"✗ claude 12m failed, session lost · restarts at {NOW + timedelta(seconds=20):%H:%M:%S}"),
        (replace(run(1, 1, status="failed"), failure_reason="restart_exhausted", last_failure_reason="session_lost"),
         "✗ claude 12m failed, gave up restarting, session lost"),
        (replace(run(1, 1, status="failed", exit_code=3), failure_reason="restart_exhausted"),
         "✗ claude 12m failed, gave up restarting, exit 3"),
    ],
)  # fmt: skip
def test_a_chip_says_glyph_provider_age_word_and_source(subject: object, said: str) -> None:
    """screens.md, Rules; unknown is said as unknown (FR-13)."""
    assert chips.chip(subject, NOW) == said  # type: ignore[arg-type]


def test_states_differ_in_glyph_and_word_not_in_colour_alone() -> None:
    """PAM-UI-012."""
    states = [
        chips.state(run(1, 1, status=status, activity=activity))
        for status in ("pending", "spawning", "running", "exited", "failed", "stopped")
        for activity in (("working", "waiting", "idle", "unknown") if status == "running" else ("unknown",))
    ]
    assert len({state.glyph for state in states}) == len({state.word for state in states}) == len(states)


@given(done=st.integers(0, 60), total=st.integers(1, 60))
def test_a_bar_is_full_only_when_all_is_done(done: int, total: int) -> None:
    done = min(done, total)
    full, empty = chips.bar(done, total)
    assert 1 <= len(full + empty) <= 8
    assert (not empty) == (done == total)
    assert bool(full) == (done > 0) or total == 1 or len(full + empty) == 1


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Rate limit the API #api @codex ^billing", QuickAdd("Rate limit the API", ("api",), "codex", "billing")),
        ("#a Fix #b it #a", QuickAdd("Fix it", ("a", "b"))),
        ("Close ##12 @@home a # b", QuickAdd("Close #12 @home a # b")),
        ("mail a@b.c", QuickAdd("mail a@b.c")),
        ("@mara @codex x ^a ^b", QuickAdd("x", (), "codex", "b")),
        ("Pay !epic now", QuickAdd("Pay now", kind="epic")),
        ("!t Pay !S", QuickAdd("Pay", kind="subtask")),
        ("Fix this !now !!epic !", QuickAdd("Fix this !now !epic !")),
        ("   ", QuickAdd("")),
    ],
)
def test_the_quick_add_line_is_taken_apart(line: str, expected: QuickAdd) -> None:
    assert parse(line) == expected


@given(st.text())
def test_no_line_breaks_the_quick_add(line: str) -> None:
    found = parse(line)
    assert all(label and not label.isspace() for label in found.labels)


def test_arguments_follow_the_shells_quoting() -> None:
    assert arguments("make test 'a b' \"c d\"") == ("make", "test", "a b", "c d")
    with pytest.raises(ValueError, match="closing quotation"):
        arguments("make 'x")


def test_a_parent_is_found_by_id_or_by_part_of_its_title() -> None:
    epic, task, gone = item(2, "Billing", kind="epic"), item(3, "Billing worker"), item(4, "Old", "cancelled")
    cards = [CardView(each) for each in (epic, task, gone)]
    assert [card.item for card in parents.matching("worker", cards)] == [task]
    assert [card.item for card in parents.matching("BILLING", cards)] == [epic], "a whole title wins"
    assert [card.item for card in parents.matching(task.id[:8], cards)] == [task]
    assert parents.trouble("bill", parents.matching("bill", cards)).startswith("“bill” could be “Billing”")
    assert parents.trouble("old", parents.matching("old", cards)) == "No open item is called “old”."


def test_events_are_told_in_words() -> None:
    def told(topic: str, **payload: object) -> str:
        return sentence(Event(1, topic, "executor", payload, NOW))

    assert told("run.spawning", host="gpu-1") == "taken by gpu-1"
    assert told("run.started", pid=7) == "agent runs, pid 7"
    assert told("run.finished", exit_code=1) == "ended with 1"
    assert told("run.finished", exit_code=-9) == "ended by signal 9"
    assert told("run.failed", failure_reason="host_lost") == "failed: host lost"
    assert told("run.signal_received", kind="progress", said={"activity": "waiting", "note": "ok?"}) == (
        "waits for you: ok?"
    )
    assert told("work_item.status_changed", **{"from": "todo", "to": "doing"}) == "moved from todo to doing"
    assert told("worker.instance_suspect").startswith("another instance answers")


@given(st.text())
def test_confined_text_is_one_line_of_the_width_it_measures(text: str) -> None:
    shown = one_line(text)
    assert shown == confined(shown)
    assert not any(char in shown for char in "\x1b\r\n\t\u202e\u2066\u200d\ufe0f")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Fix flaky auth tests and more", ["Fix flaky auth", "tests and more"]),
        ("子任务：重构支付网关并保留", ["子任务：重构支", "付网关并保留"]),
        ("重构支付网关，并保留", ["重构支付网", "关，并保留"]),
        ("internationalisation", ["internationalis", "ation"]),
        ("An internationalisation", ["An internationa", "lisation"]),
        ("Deploy it on an 日本語 host", ["Deploy it on an", "日本語 host"]),
    ],
)
def test_a_line_breaks_where_a_reader_would(text: str, lines: list[str]) -> None:
    assert wrap(text, 15 if text[0] != "重" else 11, 2) == lines


@given(text=st.text(alphabet="ab 日本e\u0301👩", max_size=40), width=st.integers(1, 20), lines=st.integers(1, 3))
def test_clipping_and_wrapping_never_exceed_their_width(text: str, width: int, lines: int) -> None:
    assert cell_len(clip(text, width)) <= width
    wrapped = wrap(text, width, lines)
    assert 1 <= len(wrapped) <= lines
    assert all(cell_len(line) <= width for line in wrapped)


def test_uids_of_the_fake_are_uuids() -> None:
    assert len({uid(number) for number in range(1000)}) == 1000

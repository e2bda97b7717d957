"""The little grammar of the filter line, the same for board, tree and wall (screens.md, Tree; PAM-UI-003)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from screens.filters import Filter
from screens.model import CardView
from tests.screens.fake_model import item, run

CARD = CardView(
    item(1, "Retry webhooks: with backoff", "doing", labels=("billing", "api"), assignee="Ann"),
    run(2, 1, "claude", activity="waiting", source="hook:claude"),
)
BARE = CardView(item(3, "Port to gRPC", "todo", "epic"))


@pytest.mark.parametrize(
    ("text", "lets"),
    [
        ("", True),
        ("webhooks BACKOFF", True),
        ("webhooks: with", True),
        ("webhooks grpc", False),
        ("#api", True),
        ("#ap", True),
        ("#tests", False),
        ("@ann", True),
        ("@ANN", True),
        ("@bob", False),
        ("@none", False),
        ("#none", False),
        ("kind:task status:doing @ann #api activity:waiting retry", True),
        ("kind:t", True),
        ("kind:epic", False),
        ("kind:epic,task", True),
        ("status:todo,doing", True),
        ("status:", True),
        ("status:,", True),
        ("-status:", True),
        ("-status:done", True),
        ("-status:doing", False),
        ("-#api", False),
        ("-grpc", True),
        ("activity:live", True),
        ("activity:none", False),
        ("provider:cl", True),
        ("host:local", True),
        ("host:gpu", False),
        ("waiting", True),
        ("claude", True),
        ("task", True),
        ("#", False),
        ("-", False),
    ],
)
def test_words_that_all_have_to_match(text: str, lets: bool) -> None:
    assert Filter.of(text).lets(CARD) is lets
    assert Filter.of(text).chosen([CARD]) == [CARD] * lets


@pytest.mark.parametrize(
    ("text", "lets"),
    [("@none", True), ("#none", True), ("activity:none", True), ("activity:live", False), ("provider:none", True),
     ("-activity:none", False), ("kind:epic status:todo port", True)],
)  # fmt: skip
def test_what_is_empty_is_found_by_none(text: str, lets: bool) -> None:
    assert Filter.of(text).lets(BARE) is lets


def test_a_run_that_has_ended_is_found_by_how_it_ended() -> None:
    ended = replace(CARD, run=run(2, 1, status="failed", exit_code=1))
    assert Filter.of("activity:failed").lets(ended)
    assert not Filter.of("activity:live").lets(ended)


def test_a_value_that_nothing_can_have_is_said() -> None:
    assert Filter.of("kind:tsk").trouble == "No kind is called “tsk”: there is milestone, epic, task and subtask."
    assert "No status is called “doen”" in Filter.of("@ann -status:doen").trouble
    assert "No activity is called “busy”" in Filter.of("activity:waiting,busy").trouble
    for fine in ("", "status:", "status:d", "@nobody", "label:x", "fix: this", "feat:tsk"):
        assert Filter.of(fine).trouble == ""


@given(st.text())
def test_whatever_is_typed_is_a_filter(text: str) -> None:
    wanted = Filter.of(text)
    assert isinstance(wanted.lets(CARD), bool)
    assert isinstance(wanted.lets(BARE), bool)
    assert isinstance(wanted.trouble, str)


@given(st.sampled_from(["#api", "kind:task", "waiting", "@ann", "status:done", "nothing"]))
def test_a_minus_turns_a_word_around(word: str) -> None:
    for card in (CARD, BARE):
        assert Filter.of(f"-{word}").lets(card) is not Filter.of(word).lets(card)

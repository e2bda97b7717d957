"""Tokens, money and context in few characters."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from screens import amounts
from screens.sentences import sentence
from store.records import Event, Usage
from store.usage import RollUp


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1k"),
        (1049, "1k"),
        (1050, "1.1k"),
        (12_345, "12.3k"),
        (99_949, "99.9k"),
        (99_950, "100k"),
        (999_499, "999k"),
        (999_500, "1M"),
        (1_234_567, "1.2M"),
        (2_500_000_000, "2.5G"),
    ],
)
def test_a_count_takes_five_characters_at_most(number: int, shown: str) -> None:
    """Never "1000k"."""
    assert amounts.compact(number) == shown


@pytest.mark.parametrize(
    ("usd", "shown"), [(0.0, "$0.00"), (0.001, "<$0.01"), (0.005, "$0.01"), (0.1677, "$0.17"), (1234.5, "$1,234.50")]
)
def test_money_is_never_shown_as_nothing_when_it_is_something(usd: float, shown: str) -> None:
    """Nothing is nothing, though."""
    assert amounts.money(usd) == shown


def test_parts_leave_out_what_is_unknown() -> None:
    """Unknown is never zero."""
    assert amounts.parts(Usage(41_881, 10, 0, 0, 0)) == "41.9k in, 10 out, 0 from cache"
    assert amounts.parts(Usage(5, 1200, None, 300, 300)) == "5 in, 1.2k out (300 thought), 300 into cache"
    assert amounts.parts(Usage(cost_usd=1.0)) == ""
    assert (amounts.short_tokens(None), amounts.short_cost(None)) == ("-", "-")
    assert (amounts.short_tokens(Usage(model="m")), amounts.short_cost(Usage(1))) == ("-", "-")
    assert (amounts.short_tokens(Usage(0, 0)), amounts.short_cost(Usage(cost_usd=0.0))) == ("0", "$0.00")


def test_context_is_a_share_where_the_limit_is_known() -> None:
    """Otherwise it is how much it is."""
    assert amounts.context(Usage(context_tokens=76_000, context_limit=200_000)) == "38 % of 200k"
    assert amounts.context(Usage(context_tokens=14_001)) == "14k"
    assert amounts.context(Usage(context_limit=200_000)) == ""


def test_a_roll_up_says_how_many_runs_are_unknown() -> None:
    """And nothing where there are no runs."""
    partly = RollUp(Usage(12_000, 300, cost_usd=1.2), 5, 2, 3)
    assert amounts.all_tokens(partly) == "12.3k, 2 of 5 runs unknown"
    assert amounts.all_cost(partly) == "$1.20, 3 of 5 runs unknown"
    whole = RollUp(Usage(12_000, cost_usd=1.2), 5, 0, 0)
    assert (amounts.all_tokens(whole), amounts.all_cost(whole)) == ("12k", "$1.20")
    nothing = RollUp(Usage(), 5, 5, 5)
    assert (amounts.all_tokens(nothing), amounts.all_cost(nothing)) == ("unknown", "")
    assert (amounts.all_tokens(RollUp(Usage(), 0, 0, 0)), amounts.all_cost(RollUp(Usage(), 0, 0, 0))) == ("", "")


@pytest.mark.parametrize(
    ("usage", "said"),
    [
        ({"input_tokens": 12_000, "output_tokens": 345, "cost_usd": 0.5}, "has used 12.3k tokens, $0.50"),
        ({"model": "m"}, "has used some tokens"),
        ("damaged", "has used some tokens"),
    ],
)
def test_the_journal_tells_usage_in_words(usage: object, said: str) -> None:
    """Of whatever the event holds."""
    at = datetime(2026, 11, 30, tzinfo=UTC)
    assert sentence(Event(1, "run.usage_updated", "executor", {"usage": usage}, at)) == said

"""What may be typed into a field; ids and times as text."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store import clock, text
from store.errors import InvalidValue
from store.ids import short

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

anything = st.text(st.characters(codec=None))
"""Any code point, halves of surrogate pairs included: JSON may spell them."""


@given(anything)
def test_line_is_one_printable_line_or_refused(value: str) -> None:
    """Nothing an agent writes may move the cursor of the terminal that shows it, nor fail to be stored."""
    try:
        line = text.one_line(value, "title")
    except InvalidValue as refused:
        assert refused.details["field"] == "title"
        return
    assert line == line.strip() and "\n" not in line and not CONTROL.search(line)
    assert 0 < len(line) <= text.TITLE_LIMIT
    assert text.one_line(line, "title") == line
    line.encode()


@given(anything)
def test_paragraphs_keep_lines_and_drop_control_characters(value: str) -> None:
    kept = text.paragraphs(value)
    assert not CONTROL.search(kept) and "\r" not in kept
    assert text.paragraphs(kept) == kept
    kept.encode()


def test_line_breaks_of_every_system_become_one() -> None:
    assert text.paragraphs("a\r\nb\rc\n\td") == "a\nb\nc\n\td"


def test_escape_sequences_lose_their_escape() -> None:
    assert text.one_line("\x1b[31mred\x1b[0m\x07", "title") == "[31mred [0m"
    assert text.paragraphs("\x1b]0;owned\x07ok") == "]0;ownedok"


def test_too_long_a_line_says_its_length_and_the_limit() -> None:
    with pytest.raises(InvalidValue, match="501 characters; at most 500"):
        text.one_line("x" * 501, "title")


@pytest.mark.parametrize("blank", [None, "", "  ", "\n"])
def test_blank_optional_line_is_nothing(blank: str | None) -> None:
    assert text.optional_line(blank, "assignee") is None


@pytest.mark.parametrize(
    ("typed", "stored"), [("Blocked", "blocked"), ("#ui", "ui"), (" ##A-b_c/1 ", "a-b_c/1"), ("Cafe\u0301", "café")]
)
def test_label_is_stored_lower_case_without_its_hash(typed: str, stored: str) -> None:
    assert text.label(typed) == stored


@pytest.mark.parametrize("typed", ["", "#", "two words", "a,b", "a#b", "x" * 51, "a\x1bb", "a\ud800"])
def test_label_of_other_than_one_word_is_refused(typed: str) -> None:
    with pytest.raises(InvalidValue, match="is not a label"):
        text.label(typed)


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("Apollo 11", "apollo-11"),
        ("  --Über  Größe!! ", "uber-groe"),
        ("家", ""),
        ("a" * 59 + " b c", "a" * 59),
        ("UPPER_case.dots", "upper-case-dots"),
    ],
)
def test_slug_made_from_a_name(name: str, made: str) -> None:
    """PAM-DATA-012."""
    assert text.slug(name) == made


@given(anything)
def test_slug_made_from_anything_is_url_safe(name: str) -> None:
    """PAM-DATA-010: a slug that is made is one that would be accepted."""
    made = text.slug(name)
    if made:
        assert text.checked_slug(made) == made


@pytest.mark.parametrize("given_slug", ["", "Upper", "two words", "-a", "a-", "a--b", "ä", "a/b", "x" * 61, "a\n"])
def test_slug_that_is_not_url_safe_is_refused(given_slug: str) -> None:
    """PAM-DATA-010."""
    with pytest.raises(InvalidValue, match="is not a slug"):
        text.checked_slug(given_slug)


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_stored_times_sort_as_times_do(one: datetime, other: datetime) -> None:
    """PAM-DATA-002."""
    assert clock.from_text(clock.to_text(one)) == one
    assert (clock.to_text(one) < clock.to_text(other)) == (one < other)


def test_time_of_another_zone_is_stored_as_utc_and_a_naive_one_refused() -> None:
    """PAM-DATA-002."""
    tokyo = timezone(timedelta(hours=9))
    assert clock.to_text(datetime(2026, 1, 1, 9, tzinfo=tokyo)) == "2026-01-01T00:00:00.000000Z"
    assert clock.utc_now().utcoffset() == timedelta(0)
    with pytest.raises(ValueError, match="timezone"):
        clock.to_text(datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(ValueError, match="timezone"):
        clock.from_text("2026-01-01T00:00:00")


def test_short_id_is_the_first_eight_digits() -> None:
    """PAM-PATH-002."""
    assert short("1a2b3c4d-0000-4000-8000-000000000000") == "1a2b3c4d"


def test_surrogates_come_through_json() -> None:
    """The reason why text is cleaned of them: a spool line may hold them in pure ASCII."""
    assert text.paragraphs(json.loads('"a\\ud83db"')) == "ab"

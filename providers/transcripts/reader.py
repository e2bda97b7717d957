"""The interface of a transcript's reader, and what readers share: lines to objects, and counts that add up.

A reader is given the lines of one file, each once and in order, and keeps the totals. It only computes. Whatever stands
in a line, it never raises: the files belong to other programs, which change them as they like.

All readers count alike: what came from a cache is not in ``input_tokens``, and what the model thought is in
``output_tokens``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from providers.recipes.payload import at, one_line
from providers.recipes.recipe import Said
from store.clock import from_text
from store.records import Usage

MOST = 2**53
UNREADABLE = (ValueError, RecursionError)
"""What parsing a line may raise: no JSON, no UTF-8, a number too long, too deep a nesting."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a line says of the agent, and when; None where the line has no time."""

    said: Said
    at: datetime | None


@dataclass(frozen=True, slots=True)
class TranscriptNews:
    """What some lines brought."""

    usage: Usage | None
    """Totals of the conversation so far; None as long as nothing was told."""
    spoken: tuple[Spoken, ...] = ()
    """In the order of the lines."""

    @property
    def said(self) -> tuple[Said, ...]:
        """What was said, without the times."""
        return tuple(spoken.said for spoken in self.spoken)


class TranscriptReader(Protocol):
    """Reads one transcript from its start."""

    def read(self, lines: Sequence[bytes]) -> TranscriptNews:
        """What these further lines say; totals are those of all lines so far. Never raises."""
        ...


@dataclass(slots=True)
class Count:
    """Tokens of one answer, or of many; a part that was never told stays None."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None

    def add(self, other: Count) -> None:
        """Count another answer in."""
        self.input = plus(self.input, other.input)
        self.output = plus(self.output, other.output)
        self.cache_read = plus(self.cache_read, other.cache_read)
        self.cache_write = plus(self.cache_write, other.cache_write)
        self.reasoning = plus(self.reasoning, other.reasoning)

    def context(self) -> int | None:
        """How full the context is after this answer."""
        sent = plus(plus(self.input, self.cache_read), self.cache_write)
        return None if sent is None else plus(sent, self.output)


@dataclass(slots=True)
class Tally:
    """Answers by their ids: one that is written again replaces what it said before."""

    total: Count = field(default_factory=Count)
    told: bool = False
    _answers: dict[str, Count] = field(default_factory=dict)

    def put(self, id_: str | None, count: Count) -> None:
        """An answer; one without an id is taken for a new one."""
        self.told = True
        before = self._answers.get(id_) if id_ is not None else None
        if before is not None:
            self.total.add(negative(before))
        if id_ is not None:
            self._answers[id_] = count
        self.total.add(count)


def plus(one: int | None, other: int | None) -> int | None:
    """The sum, of what is known of it."""
    if one is None or other is None:
        return other if one is None else one
    return one + other


def newest(last: Count | None, count: Count) -> Count | None:
    """The answer whose context counts: a request that failed has sent nothing."""
    return count if count.context() else last


def negative(count: Count) -> Count:
    """What takes a count back."""

    def less(value: int | None) -> int | None:
        return None if value is None else -value

    return Count(
        less(count.input), less(count.output), less(count.cache_read), less(count.cache_write), less(count.reasoning)
    )


def without(whole: int | None, *parts: int | None) -> int | None:
    """A count without parts of it that are told beside it; never below nothing."""
    return None if whole is None else max(0, whole - sum(part or 0 for part in parts))


def usage_of(
    count: Count,
    *,
    last: Count | None = None,
    limit: int | None = None,
    model: str | None = None,
    cost: float | None = None,
) -> Usage:
    """The totals as a usage; ``last`` is the newest answer of the main conversation."""
    return Usage(
        input_tokens=count.input,
        output_tokens=count.output,
        cache_read_tokens=count.cache_read,
        cache_write_tokens=count.cache_write,
        reasoning_tokens=count.reasoning,
        cost_usd=cost,
        context_tokens=last.context() if last else None,
        context_limit=limit,
        model=model,
    )


def objects(lines: Sequence[bytes], *marks: bytes) -> Iterator[Mapping[str, object]]:
    """The JSON objects of those lines that hold one of the marks; other lines cost next to nothing."""
    for line in lines:
        if any(mark in line for mark in marks):
            try:
                found = json.loads(line)
            except UNREADABLE:
                continue
            if isinstance(found, dict):
                yield found


def count(line: object, *path: str) -> int | None:
    """The whole number at the path of keys, if it can be a count."""
    found = at(line, *path)
    if isinstance(found, bool) or not isinstance(found, int):
        return None
    return found if 0 <= found <= MOST else None


def words(line: object, *path: str) -> str | None:
    """The text at the path of keys, in one line; None when there is none."""
    found = at(line, *path)
    return one_line(found) or None if isinstance(found, str) else None


def moment(line: object, *path: str) -> datetime | None:
    """The time at the path of keys, written as ISO 8601 in UTC."""
    found = at(line, *(path or ("timestamp",)))
    try:
        return from_text(found) if isinstance(found, str) else None
    except ValueError:
        return None


def reason(said: object) -> str | None:
    """Why a request failed: the message in an API's answer, or else the words as they are, in one line."""
    if not isinstance(said, str):
        return None
    try:
        found = json.loads(said[said.find("{") : said.rfind("}") + 1])
    except UNREADABLE:
        found = None
    return words(found, "error", "message") or words(found, "message") or one_line(said) or None

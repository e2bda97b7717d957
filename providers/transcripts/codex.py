"""Codex's rollout: ``<config>/sessions/<date>/rollout-<time>-<id>.jsonl``.

It is the only place where a turn says that it failed, and it has the totals itself. It never speaks of money.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from providers.recipes.payload import at
from providers.recipes.recipe import Said
from providers.transcripts.reader import (
    Count,
    Spoken,
    TranscriptNews,
    count,
    moment,
    objects,
    reason,
    usage_of,
    without,
    words,
)
from store.records import Usage

MARKS = (b'"token_count"', b'"turn_context"', b'"task_started"', b'"task_complete"', b'"turn_aborted"')


class CodexRollout:
    """One thread."""

    def __init__(self) -> None:
        self._total: Count | None = None
        self._last: Count | None = None
        self._limit: int | None = None
        self._model: str | None = None

    def read(self, lines: Sequence[bytes]) -> TranscriptNews:
        """As TranscriptReader says."""
        spoken = []
        for line in objects(lines, *MARKS):
            payload = line.get("payload")
            if not isinstance(payload, Mapping):
                continue
            if line.get("type") == "turn_context":
                self._model = words(payload, "model") or self._model
            elif line.get("type") == "event_msg":
                self._count(payload)
                said = _said(payload)
                if said is not None:
                    spoken.append(Spoken(said, moment(line)))
        return TranscriptNews(self._usage(), tuple(spoken))

    def _count(self, payload: Mapping[str, object]) -> None:
        where = payload.get("info") if payload.get("type") == "token_count" else payload
        self._limit = count(where, "model_context_window") or self._limit
        total, last = at(where, "total_token_usage"), at(where, "last_token_usage")
        if isinstance(total, Mapping):
            self._total = _tokens(total)
        if isinstance(last, Mapping):
            self._last = _tokens(last)

    def _usage(self) -> Usage | None:
        if self._total is None:
            return None
        return usage_of(self._total, last=self._last, limit=self._limit, model=self._model)


def _tokens(used: Mapping[str, object]) -> Count:
    cached, written = count(used, "cached_input_tokens"), count(used, "cache_write_input_tokens")
    return Count(
        input=without(count(used, "input_tokens"), cached, written),
        output=count(used, "output_tokens"),
        cache_read=cached,
        cache_write=written,
        reasoning=count(used, "reasoning_output_tokens"),
    )


def _said(payload: Mapping[str, object]) -> Said | None:
    match payload.get("type"):
        case "task_started":
            return Said(activity="working")
        case "turn_aborted":
            return Said(activity="idle", interrupted=True)
        case "task_complete":
            error = payload.get("error")
            if not error:
                return Said(activity="idle")
            return Said(activity="idle", failed=reason(at(error, "message")) or reason(error) or "the turn failed")
    return None

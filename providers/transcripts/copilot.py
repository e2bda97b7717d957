"""Copilot CLI's events: ``<config>/session-state/<session>/events.jsonl``.

``session.error`` ends a turn. It counts after tries that failed, of which the hook cannot say that one was the last;
any other error the hook has told, and told late it would be taken for one of the next turn.
It counts requests and credits, never money. Versions that do not tell every call sum up when the session ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from providers.recipes.copilot import may_pass
from providers.recipes.payload import at
from providers.recipes.recipe import Said
from providers.transcripts.reader import (
    Count,
    Spoken,
    Tally,
    TranscriptNews,
    count,
    moment,
    newest,
    objects,
    usage_of,
    without,
    words,
)
from store.records import Usage

MAIN = ("", "conversation-agent")
"""Interaction types of the conversation itself; others are its helpers."""


def events_path(config: str, conversation: str) -> str:
    """The file of a conversation; it is there from the first prompt on."""
    return f"{config}/session-state/{conversation}/events.jsonl"


class CopilotEvents:
    """One session."""

    def __init__(self) -> None:
        self._calls = Tally()
        self._summed: Count | None = None
        self._last: Count | None = None
        self._limit: int | None = None
        self._model: str | None = None

    def read(self, lines: Sequence[bytes]) -> TranscriptNews:
        """As TranscriptReader says."""
        spoken = []
        for line in objects(lines, b'"session.usage_record"', b'"session.shutdown"', b'"session.error"', b'"abort"'):
            data = line.get("data")
            match line.get("type"):
                case "session.usage_record":
                    self._call(at(data, "usage"))
                case "session.shutdown":
                    self._sum_up(at(data, "accountingSnapshot", "modelMetrics") or at(data, "modelMetrics"))
                case "session.error":
                    if may_pass(failed := words(data, "message") or ""):
                        spoken.append(Spoken(Said(activity="idle", failed=failed), moment(line)))
                case "abort":
                    spoken.append(Spoken(Said(activity="idle", interrupted=True), moment(line)))
        return TranscriptNews(self._usage(), tuple(spoken))

    def _call(self, used: object) -> None:
        if not isinstance(used, Mapping):
            return
        call = _tokens(used)
        self._calls.put(words(used, "apiCallId"), call)
        if (words(used, "interactionType") or "") in MAIN:
            self._last = newest(self._last, call)
            self._model = words(used, "model") or self._model
            self._limit = count(used, "maxPromptTokens") or self._limit

    def _sum_up(self, models: object) -> None:
        if not isinstance(models, Mapping):
            return
        whole = Count()
        for name, metrics in models.items():
            used = at(metrics, "usage")
            if isinstance(used, Mapping):
                whole.add(_tokens(used))
                self._summed, self._model = whole, self._model or str(name)

    def _usage(self) -> Usage | None:
        total = self._calls.total if self._calls.told else self._summed
        return usage_of(total, last=self._last, limit=self._limit, model=self._model) if total else None


def _tokens(used: Mapping[str, object]) -> Count:
    read, written = count(used, "cacheReadTokens"), count(used, "cacheWriteTokens")
    return Count(
        input=without(count(used, "inputTokens"), read, written),
        output=count(used, "outputTokens"),
        cache_read=read,
        cache_write=written,
        reasoning=count(used, "reasoningTokens"),
    )

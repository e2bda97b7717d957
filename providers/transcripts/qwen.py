"""Qwen Code's chat: ``<config>/projects/<directory>/chats/<session>.jsonl``.

Every call of a model is told by a telemetry record, those of its helpers as well, which have no answer in the chat. A
chat without such records has the counts of its answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from providers.recipes.payload import at
from providers.transcripts.reader import (
    Count,
    Tally,
    TranscriptNews,
    count,
    newest,
    objects,
    usage_of,
    without,
    words,
)
from store.records import Usage

RESPONSE = "api_response"


class QwenChat:
    """One session."""

    def __init__(self) -> None:
        self._calls = Tally()
        self._answers = Tally()
        self._last: Count | None = None
        self._limit: int | None = None
        self._model: str | None = None

    def read(self, lines: Sequence[bytes]) -> TranscriptNews:
        """As TranscriptReader says."""
        for line in objects(lines, RESPONSE.encode(), b'"usageMetadata"'):
            event = at(line, "systemPayload", "uiEvent")
            if line.get("type") == "assistant":
                self._answer(line)
            elif isinstance(event, Mapping) and (words(event, "event.name") or "").endswith(RESPONSE):
                self._call(event)
        return TranscriptNews(self._usage())

    def _answer(self, line: Mapping[str, object]) -> None:
        used = line.get("usageMetadata")
        if not isinstance(used, Mapping):
            return
        names = ("promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount", "thoughtsTokenCount")
        answer = _tokens(used, *names, "totalTokenCount")
        self._answers.put(words(line, "uuid"), answer)
        if line.get("isSidechain") is not True:
            self._last = newest(self._last, answer)
            self._model = words(line, "model") or self._model
            self._limit = count(line, "contextWindowSize") or self._limit

    def _call(self, event: Mapping[str, object]) -> None:
        names = ("input_token_count", "output_token_count", "cached_content_token_count", "thoughts_token_count")
        self._calls.put(words(event, "response_id"), _tokens(event, *names, "total_token_count"))

    def _usage(self) -> Usage | None:
        tally = self._calls if self._calls.told else self._answers
        if not tally.told:
            return None
        return usage_of(tally.total, last=self._last, limit=self._limit, model=self._model)


def _tokens(used: Mapping[str, object], prompt: str, answer: str, cached: str, thoughts: str, total: str) -> Count:
    sent, read, whole = count(used, prompt), count(used, cached), count(used, total)
    output, thought = count(used, answer), count(used, thoughts)
    if sent is not None and output is not None and whole == sent + output + (thought or 0):
        output += thought or 0  # some models count what they thought apart; the total tells
    return Count(input=without(sent, read), output=output, cache_read=read, reasoning=thought)

"""Gemini CLI's chat: ``<config>/tmp/<project>/chats/session-<time>-<id>.jsonl``.

An answer may be written again under its id, with more in it: the last one counts. What a cancelled or failed request
used is in no line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    plus,
    reason,
    usage_of,
    without,
    words,
)
from store.records import Usage

CANCELLED = "Request cancelled."


class GeminiChat:
    """One session."""

    def __init__(self) -> None:
        self._tally = Tally()
        self._last: Count | None = None
        self._model: str | None = None

    def read(self, lines: Sequence[bytes]) -> TranscriptNews:
        """As TranscriptReader says."""
        spoken = []
        for line in objects(lines, b'"tokens"', b'"info"', b'"error"'):
            match line.get("type"):
                case "gemini":
                    self._answer(line)
                case "info" if line.get("content") == CANCELLED:
                    spoken.append(Spoken(Said(activity="idle", interrupted=True), moment(line)))
                case "error" if error := reason(line.get("content")):
                    spoken.append(Spoken(Said(activity="idle", failed=error), moment(line)))
        return TranscriptNews(self._usage(), tuple(spoken))

    def _answer(self, line: Mapping[str, object]) -> None:
        used = line.get("tokens")
        if not isinstance(used, Mapping):
            return
        cached, thoughts = count(used, "cached"), count(used, "thoughts")
        answer = Count(
            input=plus(without(count(used, "input"), cached), count(used, "tool")),
            output=plus(count(used, "output"), thoughts),
            cache_read=cached,
            reasoning=thoughts,
        )
        self._tally.put(words(line, "id"), answer)
        self._last, self._model = newest(self._last, answer), words(line, "model") or self._model

    def _usage(self) -> Usage | None:
        return usage_of(self._tally.total, last=self._last, model=self._model) if self._tally.told else None

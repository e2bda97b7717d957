"""Claude Code's transcript: ``<config>/projects/<directory>/<session>.jsonl``.

An answer stands in one line for each of its blocks, all with the id of the message; the last one has its final counts.
``cost-state``, written when a session ends, holds the totals over all that was resumed, subagents included.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

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
    plus,
    usage_of,
    without,
    words,
)
from store.records import Usage

INTERRUPTED = "[Request interrupted by user"
SYNTHETIC = "<synthetic>"
"""The model of an answer that Claude Code wrote itself, as when the API failed."""


class ClaudeTranscript:
    """One session."""

    def __init__(self) -> None:
        self._tally = Tally()
        self._beside = Count()
        """What the last ``cost-state`` knew beyond the lines before it."""
        self._last: Count | None = None
        self._model: str | None = None
        self._cost: float | None = None

    def read(self, lines: Sequence[bytes]) -> TranscriptNews:
        """As TranscriptReader says."""
        spoken = []
        for line in objects(lines, b'"usage"', b'"cost-state"', INTERRUPTED.encode()):
            match line.get("type"):
                case "assistant":
                    self._answer(line)
                case "cost-state":
                    self._cost_state(line)
                case "user" if _interrupted(line):
                    spoken.append(Spoken(Said(activity="idle", interrupted=True), moment(line)))
        return TranscriptNews(self._usage(), tuple(spoken))

    def _answer(self, line: Mapping[str, object]) -> None:
        model, used = words(line, "message", "model"), at(line, "message", "usage")
        if model == SYNTHETIC or not isinstance(used, Mapping):
            return
        answer = Count(
            input=count(used, "input_tokens"),
            output=count(used, "output_tokens"),
            cache_read=count(used, "cache_read_input_tokens"),
            cache_write=count(used, "cache_creation_input_tokens"),
            reasoning=count(used, "output_tokens_details", "thinking_tokens"),
        )
        self._tally.put(words(line, "message", "id"), answer)
        if line.get("isSidechain") is not True:
            self._last, self._model = newest(self._last, answer), model or self._model

    def _cost_state(self, line: Mapping[str, object]) -> None:
        models = line.get("modelUsage")
        if not isinstance(models, Mapping) or not models:
            return
        whole = Count()
        for used in models.values():
            whole.add(
                Count(
                    input=count(used, "inputTokens"),
                    output=count(used, "outputTokens"),
                    cache_read=count(used, "cacheReadInputTokens"),
                    cache_write=count(used, "cacheCreationInputTokens"),
                    reasoning=count(used, "thinkingTokens"),
                )
            )
        lines, self._tally.told = self._tally.total, True
        self._beside = Count(
            without(whole.input, lines.input),
            without(whole.output, lines.output),
            without(whole.cache_read, lines.cache_read),
            without(whole.cache_write, lines.cache_write),
            without(whole.reasoning, lines.reasoning),
        )
        self._cost = _cost(line)

    def _usage(self) -> Usage | None:
        if not self._tally.told:
            return None
        lines, beside = self._tally.total, self._beside
        whole = Count(
            plus(lines.input, beside.input),
            plus(lines.output, beside.output),
            plus(lines.cache_read, beside.cache_read),
            plus(lines.cache_write, beside.cache_write),
            plus(lines.reasoning, beside.reasoning),
        )
        return usage_of(whole, last=self._last, model=self._model, cost=self._cost)


def _cost(line: Mapping[str, object]) -> float | None:
    """The money, unless part of it is not known to Claude Code itself."""
    found = line.get("totalCostUSD")
    if isinstance(found, bool) or not isinstance(found, (int, float)) or line.get("hasUnknownModelCost") is True:
        return None
    return float(found) if 0 <= found < 1e9 and math.isfinite(found) else None


def _interrupted(line: Mapping[str, object]) -> bool:
    content = at(line, "message", "content")
    if line.get("isSidechain") is True:
        return False
    if isinstance(content, list):
        return any((words(block, "text") or "").startswith(INTERRUPTED) for block in content)
    return isinstance(content, str) and content.startswith(INTERRUPTED)

"""Kimi Code's wire: ``<config>/sessions/<directory>/<session>/agents/main/wire.jsonl``.

Every call of a model is a record of its own; those of its subagents stand in files of theirs. It is the only place
that tells when a turn of the main agent has ended: the ``Stop`` hook comes for its subagents too. A turn that ends with
tasks in the background is not the end: the session wakes itself later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from providers.recipes.kimi_workspace import workspace_key
from providers.recipes.payload import at, one_line
from providers.recipes.recipe import Said
from providers.transcripts.reader import Count, Spoken, Tally, TranscriptNews, count, newest, objects, usage_of, words
from store.records import Usage


def wire_path(config: str, cwd: str, session: str) -> str:
    """Where the main agent of a session writes; its hooks do not say so."""
    return f"{config}/sessions/{workspace_key(cwd)}/{session}/agents/main/wire.jsonl"


MARKS = (
    b'"usage.record"',
    b'"llm.request"',
    b'"turn.prompt"',
    b'"turn.ended"',
    b'"task.started"',
    b'"task.terminated"',
)


class KimiWire:
    """The main agent of one session."""

    def __init__(self) -> None:
        self._tally = Tally()
        self._last: Count | None = None
        self._model: str | None = None
        self._background: dict[str, str] = {}
        """What goes on beside the turn: descriptions by the id of the task."""

    def read(self, lines: Sequence[bytes]) -> TranscriptNews:
        """As TranscriptReader says."""
        spoken = []
        for line in objects(lines, *MARKS):
            match line.get("type"):
                case "usage.record":
                    self._call(line)
                case "llm.request":
                    self._model = words(line, "model") or self._model
                case "task.started" | "task.terminated":
                    self._task(line)
                case "turn.prompt":
                    spoken.append(Spoken(Said(activity="working"), _moment(line)))
                case "turn.ended" if said := self._ended(line.get("reason")):
                    spoken.append(Spoken(said, _moment(line)))
        return TranscriptNews(self._usage(), tuple(spoken))

    def _task(self, line: Mapping[str, object]) -> None:
        name = words(line, "info", "taskId") or ""
        if line.get("type") == "task.terminated":
            self._background.pop(name, None)
        elif at(line, "info", "detached") is True:
            self._background[name] = words(line, "info", "description") or words(line, "info", "kind") or "a task"

    def _ended(self, reason: object) -> Said | None:
        """Of a turn that failed its hook tells more."""
        if reason == "cancelled":
            return Said(activity="idle", interrupted=True)
        if reason != "completed":
            return None
        if self._background:
            tasks = ", ".join(self._background.values())
            return Said(activity="working", note=one_line(f"in the background: {tasks}"))
        return Said(activity="idle", completed=True)

    def _call(self, line: Mapping[str, object]) -> None:
        if not isinstance(line.get("usage"), Mapping):
            return
        call = Count(
            input=count(line, "usage", "inputOther"),
            output=count(line, "usage", "output"),
            cache_read=count(line, "usage", "inputCacheRead"),
            cache_write=count(line, "usage", "inputCacheCreation"),
        )
        self._tally.put(None, call)
        self._last = newest(self._last, call)
        self._model = self._model or words(line, "model")

    def _usage(self) -> Usage | None:
        return usage_of(self._tally.total, last=self._last, model=self._model) if self._tally.told else None


def _moment(line: Mapping[str, object]) -> datetime | None:
    milliseconds = count(line, "time")
    try:
        return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None

"""Hooks as claude speaks them, and qwen and others after it: the same names, payloads that differ in details."""

from __future__ import annotations

from collections.abc import Mapping

from providers.recipes.payload import at, one_line, text
from providers.recipes.recipe import Ask, Said, Usage

SELF_WAKING = "<task-notification>"
"""How a prompt begins that the session gives itself when work in the background has ended."""

_DETAIL = ("command", "file_path", "notebook_path", "url", "pattern", "path", "plan", "description", "prompt")
"""What of a tool's input says best what it is about."""


def session(payload: Mapping[str, object]) -> Said:
    """``SessionStart``; compaction happens within a turn."""
    idle = text(payload, "source") != "compact"
    return Said(
        activity="idle" if idle else None,
        conversation_id=text(payload, "session_id"),
        transcript=text(payload, "transcript_path"),
        model=text(payload, "model"),
    )


def prompt(payload: Mapping[str, object]) -> Said:
    """``UserPromptSubmit``; it also comes when the session wakes itself, and in qwen for the result of a tool."""
    words = (text(payload, "prompt") or "").lstrip()
    accepted = bool(words) and not words.startswith(SELF_WAKING)
    return Said(activity="working", accepted=accepted, transcript=text(payload, "transcript_path"))


def notification(payload: Mapping[str, object]) -> Said | None:
    """``Notification``; that of a permission knows less than the permission's own event, which came before."""
    match text(payload, "notification_type"):
        case "idle_prompt":
            return Said(activity="idle")
        case "permission_prompt":
            return Said(activity="waiting")
        case "elicitation_dialog" | "agent_needs_input":
            return Said(activity="waiting", ask=Ask("question", one_line(text(payload, "message")) or "a question"))
        case _:
            return None


def stop(payload: Mapping[str, object], usage: Usage | None = None) -> Said:
    """``Stop``; with work in the background it is not the end, as the session wakes itself later."""
    tasks = at(payload, "background_tasks")
    if isinstance(tasks, list) and tasks:
        named = [one_line(text(task, "description") or text(task, "command")) for task in tasks if _is_object(task)]
        names = ", ".join(filter(None, named)) or f"{len(tasks)} tasks"
        return Said(activity="working", note=one_line(f"in the background: {names}"), usage=usage)
    return Said(activity="idle", completed=True, usage=usage)


def stop_failed(payload: Mapping[str, object], *keys: str) -> Said:
    """``StopFailure``, its error under the first of the keys that has one."""
    error = next((text(payload, key) for key in keys if text(payload, key)), None)
    return Said(activity="idle", failed=one_line(error) or "the turn failed")


def ask(payload: Mapping[str, object], *, questions: str, plan: str) -> Ask:
    """What a tool is asked for; ``questions`` and ``plan`` name the tools that ask and that leave planning."""
    tool = text(payload, "tool_name") or ""
    if tool == questions:
        return Ask("question", _questions(payload))
    if tool == plan:
        return Ask("plan", _detail(payload))
    return Ask("permission", _detail(payload), tool)


def _questions(payload: Mapping[str, object]) -> str:
    asked = at(payload, "tool_input", "questions")
    texts = [text(one, "question") for one in asked if _is_object(one)] if isinstance(asked, list) else []
    return one_line(" · ".join(filter(None, texts))) or "a question"


def _detail(payload: Mapping[str, object]) -> str:
    given = at(payload, "tool_input")
    if not isinstance(given, Mapping):
        return ""
    found = next((text(given, key) for key in _DETAIL if text(given, key)), None)
    return one_line(found or next((value for value in given.values() if isinstance(value, str)), ""))


def _is_object(value: object) -> bool:
    return isinstance(value, Mapping)

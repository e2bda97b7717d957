"""Claude Code: hooks in a settings file of ours, which it merges with the operator's own.

It says nothing when a turn is interrupted; its transcript does. A ``Stop`` with work in the background is not the end:
the session wakes itself later. An event name that it does not know stops its start, so the set is small.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from providers.recipes import claude_words as words
from providers.recipes.own_file import parsed, table, written
from providers.recipes.payload import at, text
from providers.recipes.recipe import Answer, Ask, HookSetup, HostFile, Said, Setting

EVENTS = {
    "SessionStart": "",
    "UserPromptSubmit": "",
    "PreToolUse": "AskUserQuestion|ExitPlanMode",
    "PermissionRequest": "",
    "PostToolUse": "*",
    "PostToolUseFailure": "*",
    "Notification": "",
    "Stop": "",
    "StopFailure": "",
    "SessionEnd": "",
}
"""What is asked for, with the tools that it is asked for; known to every version in the catalog's range."""

HOOK_TIMEOUT_S = 10
KEY_TAIL = 20
"""Characters of an API key by which claude remembers that it may be used."""

QUESTION = "AskUserQuestion"
"""The tool by which it asks the operator."""


class Claude:
    """The recipe of ``claude``."""

    name = "claude"

    def setup(self, at: Setting) -> HookSetup:
        """A settings file, and the answers to the questions a directory and a key raise for the first time."""
        file = _settings(at)
        path = _own_file(at)
        answers = [Answer(path, f"claude trusts {at.cwd}", _trusting(at.cwd))]
        if key := at.env.get("ANTHROPIC_API_KEY"):
            answers.append(Answer(path, "claude may use ANTHROPIC_API_KEY", _approving(key[-KEY_TAIL:])))
        return HookSetup(args=("--settings", file.path), files=(file,), answers=tuple(answers))

    def read(self, event: str, payload: Mapping[str, object]) -> Said | None:
        """As Recipe says."""
        read = _READ.get(event or text(payload, "hook_event_name") or "")
        return read(payload) if read else None


# -- how it is given its hooks


def _settings(at: Setting) -> HostFile:
    command = shlex.join(at.command(Claude.name))
    hook = {"type": "command", "command": command, "timeout": HOOK_TIMEOUT_S}
    events = {name: [{**({"matcher": tools} if tools else {}), "hooks": [hook]}] for name, tools in EVENTS.items()}
    data = json.dumps({"hooks": events}, indent=1).encode()
    return HostFile(f"{at.home}/hooks/claude-{hashlib.sha256(data).hexdigest()[:12]}.json", data)


def _own_file(at: Setting) -> str:
    return f"{at.env.get('CLAUDE_CONFIG_DIR') or at.user_home}/.claude.json"


def _trusting(cwd: str) -> Callable[[bytes | None], bytes | None]:
    def edit(data: bytes | None) -> bytes | None:
        if data is None:
            return None  # it never ran here, and asks more than this
        state = parsed(data)
        projects = table(state, "projects")
        known = (cwd, *map(str, PurePosixPath(cwd).parents))
        if any(at(projects.get(directory), "hasTrustDialogAccepted") is True for directory in known):
            return None
        table(projects, cwd)["hasTrustDialogAccepted"] = True
        return written(state)

    return edit


def _approving(tail: str) -> Callable[[bytes | None], bytes | None]:
    def edit(data: bytes | None) -> bytes | None:
        if data is None:
            return None
        state = parsed(data)
        answered = table(state, "customApiKeyResponses")
        approved, rejected = (answered.setdefault(name, []) for name in ("approved", "rejected"))
        if not isinstance(approved, list) or not isinstance(rejected, list):
            raise ValueError("customApiKeyResponses holds no lists")
        if tail in (*approved, *rejected):
            return None
        approved.append(tail)
        return written(state)

    return edit


# -- what its hooks say


def _ask(payload: Mapping[str, object]) -> Ask:
    return words.ask(payload, questions=QUESTION, plan="ExitPlanMode")


def _permission(payload: Mapping[str, object]) -> Said:
    return Said(activity="waiting", ask=_ask(payload))


def _tool_begins(payload: Mapping[str, object]) -> Said | None:
    return _permission(payload) if text(payload, "tool_name") == QUESTION else None


def _tool_ended(payload: Mapping[str, object]) -> Said:
    """Tools run side by side, and subagents': only the one that was asked for shows that the question is answered."""
    return Said(activity="working", answered=_ask(payload).line)


def _stop_failed(payload: Mapping[str, object]) -> Said:
    return words.stop_failed(payload, "last_assistant_message", "error_details", "error")


_READ: Mapping[str, Callable[[Mapping[str, object]], Said | None]] = {
    "SessionStart": words.session,
    "UserPromptSubmit": words.prompt,
    "PreToolUse": _tool_begins,
    "PermissionRequest": _permission,
    "PostToolUse": _tool_ended,
    "PostToolUseFailure": _tool_ended,
    "Notification": words.notification,
    "Stop": words.stop,
    "StopFailure": _stop_failed,
}

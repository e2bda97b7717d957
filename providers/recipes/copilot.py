"""GitHub Copilot CLI: hooks in a plugin of ours, which one run loads with ``--plugin-dir`` beside the operator's own.

Its payloads do not name their event, so each hook's command does. ``sessionStart`` comes with the first prompt, not
before. ``permissionRequest`` also comes for what needs no permission; only ``notification`` tells that it is asked for.
Nothing tells that the answer came before the tool has ended (``postToolUse``), nor that a turn was interrupted, which a
refused permission does, too. ``errorOccurred`` comes for every try, the last one or not: copilot tries again what may
pass. All three stand in the conversation's file at once, as ``permission.completed``, ``abort`` and ``session.error``.
``agentStop`` is the first to name that file.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from providers.recipes.own_file import parsed, written
from providers.recipes.payload import at, one_line, text
from providers.recipes.recipe import Answer, Ask, HookSetup, HostFile, Said, Setting

EVENTS = {
    "sessionStart": "",
    "userPromptSubmitted": "",
    "preToolUse": "ask_user",
    "notification": "",
    "postToolUse": "",
    "postToolUseFailure": "",
    "agentStop": "",
    "errorOccurred": "",
}
"""What is asked for, with the tool that it is asked for."""

HOOK_TIMEOUT_S = 10

SELF_WAKING = "<system_notification>"
"""How a prompt begins that the session gives itself when work in the background has ended."""

READERS = ("view", "glob", "grep", "read_bash", "list_bash", "read_agent", "list_agents")
"""Tools that need no permission within the directory."""

_PASSES = re.compile(
    r"\b429\b|\b5\d\d\b|rate.?limit|overload|server_error|api_error|time.?out|timed out|connect|network"
)
"""In an error that copilot meets by trying again."""

_COMMENT = re.compile(rb"\A(?:\s*//[^\n]*\n)*")
"""What copilot writes above its configuration."""


class Copilot:
    """The recipe of ``copilot``."""

    name = "copilot"

    def setup(self, at: Setting) -> HookSetup:
        """A plugin, and the answer to the question that a directory raises for the first time."""
        files, directory = _plugin(at)
        trust = Answer(f"{_own_directory(at)}/config.json", f"copilot trusts {at.cwd}", _trusting(at.cwd))
        return HookSetup(args=(f"--plugin-dir={directory}",), files=files, answers=(trust,))

    def read(self, event: str, payload: Mapping[str, object]) -> Said | None:
        """As Recipe says."""
        read = _READ.get(event)
        return read(payload) if read else None


def may_pass(error: str) -> bool:
    """Whether copilot meets this error by trying again, so that its hook does not tell the end of the turn."""
    return _PASSES.search(error.lower()) is not None


# -- how it is given its hooks


def _plugin(at: Setting) -> tuple[tuple[HostFile, ...], str]:
    """The plugin's files and their directory."""
    hooks = json.dumps({"version": 1, "hooks": {name: [_hook(at, name)] for name in EVENTS}}, indent=1).encode()
    directory = f"{at.home}/hooks/copilot-{hashlib.sha256(hooks).hexdigest()[:12]}"
    about = {"name": "pam", "description": "Tells pam what the agent does", "version": "1.0.0", "hooks": "hooks.json"}
    files = (
        HostFile(f"{directory}/plugin.json", json.dumps(about, indent=1).encode()),
        HostFile(f"{directory}/hooks.json", hooks),
    )
    return files, directory


def _hook(at: Setting, event: str) -> Mapping[str, object]:
    command = {"type": "command", "bash": shlex.join(at.command(Copilot.name, event)), "timeoutSec": HOOK_TIMEOUT_S}
    return {**command, **({"matcher": EVENTS[event]} if EVENTS[event] else {})}


def _own_directory(at: Setting) -> str:
    return at.env.get("COPILOT_HOME") or f"{at.user_home}/.copilot"


def _trusting(cwd: str) -> Callable[[bytes | None], bytes | None]:
    """A trusted directory covers what is below it."""

    def edit(data: bytes | None) -> bytes | None:
        found = _COMMENT.match(data or b"")
        comment = found[0] if found else b""
        state = parsed((data or b"")[len(comment) :])
        trusted = state.setdefault("trustedFolders", [])
        if not isinstance(trusted, list):
            raise ValueError("trustedFolders is no list")
        if any(str(directory) in trusted for directory in (cwd, *PurePosixPath(cwd).parents)):
            return None
        trusted.append(cwd)
        return comment + written(state)

    return edit


# -- what its hooks say


def _session(payload: Mapping[str, object]) -> Said:
    # Its prompt is worked on already, and the two hooks may overtake each other.
    return Said(conversation_id=text(payload, "sessionId"))


def _prompt(payload: Mapping[str, object]) -> Said:
    own = (text(payload, "prompt") or "").lstrip().startswith(SELF_WAKING)
    return Said(activity="working", accepted=not own)


def _tool_begins(payload: Mapping[str, object]) -> Said | None:
    if text(payload, "toolName") != "ask_user":
        return None
    return Said(activity="waiting", ask=Ask("question", _question(payload)))


def _notification(payload: Mapping[str, object]) -> Said | None:
    match text(payload, "notification_type"):
        case "permission_prompt":
            asked = one_line(text(payload, "message")) or "a permission"
            return Said(activity="waiting", ask=Ask("permission", asked))
        case "elicitation_dialog":
            return Said(activity="waiting")  # its tool said what is asked
        case _:
            return None


def _tool_ended(payload: Mapping[str, object]) -> Said:
    """Tools run side by side: one that reads, and was not asked for, leaves the question open."""
    return Said(activity="working", answered=_asked_for(payload))


def _stop(payload: Mapping[str, object]) -> Said:
    reason = text(payload, "stopReason")
    clean = reason in (None, "end_turn")
    note = None if clean else one_line(f"stopped: {reason}")
    return Said(activity="idle", completed=clean, note=note, transcript=text(payload, "transcriptPath"))


def _error(payload: Mapping[str, object]) -> Said | None:
    if text(payload, "errorContext") not in (None, "model_call", "system"):
        return None  # the agent is told of it and goes on
    error = _message(text(payload, "error", "message")) or "the turn failed"
    if at(payload, "recoverable") is not False and may_pass(error):
        return Said(activity="working", note=one_line(f"tries again: {error}"))
    return Said(activity="idle", failed=error)


_READ: Mapping[str, Callable[[Mapping[str, object]], Said | None]] = {
    "sessionStart": _session,
    "userPromptSubmitted": _prompt,
    "preToolUse": _tool_begins,
    "notification": _notification,
    "postToolUse": _tool_ended,
    "postToolUseFailure": _tool_ended,
    "agentStop": _stop,
    "errorOccurred": _error,
}


def _question(payload: Mapping[str, object]) -> str:
    asked = text(payload, "toolArgs", "message") or text(payload, "toolArgs", "question")
    return one_line(asked) or "a question"


def _asked_for(payload: Mapping[str, object]) -> str | None:
    """What the notification of a tool that reads said: it may need a path. Of the others any may be asked for."""
    if text(payload, "toolName") not in READERS:
        return None
    return one_line(f"Path permission needed: {text(payload, 'toolArgs', 'path') or ''}")


def _message(said: str | None) -> str:
    """The error in words; a provider's answer is JSON of which only its code and its message are for people."""
    try:
        answer = json.loads(said or "")
    except (ValueError, RecursionError):
        return one_line(said)
    if not isinstance(answer, Mapping):
        return one_line(said)
    parts = [text(answer, "message"), text(answer, "type") or text(answer, "code")]
    return one_line(": ".join(filter(None, reversed(parts)))) or one_line(said)

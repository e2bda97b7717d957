"""Qwen Code: hooks in a settings file below the operator's own, to which a variable of the run points.

Qwen reads two files of the machine beside the operator's: defaults below it and settings above it. The hooks of all of
them run, so ours stand in the defaults: a switch that the operator has set keeps its value. Where the operator's
environment uses the defaults, the file above is taken. Where it uses both, they stay, and the run has no hooks: pam
would have to read files that it was not given. In a run of pam's the machine's own file in that place, as
``/etc/qwen-code/system-defaults.json``, is not read.

``PreToolUse`` comes after a permission is granted and just before the tool runs, so it is what ends the waiting; a
permission that is refused ends the turn. An interrupted turn says only ``idle_prompt``, at once, as every turn does at
its end; neither a hook nor the chat file calls it an interruption.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Callable, Mapping

from providers.recipes import claude_words as words
from providers.recipes.payload import number, text
from providers.recipes.recipe import Ask, HookSetup, HostFile, Said, Setting, Usage

EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PermissionRequest",
    "PreToolUse",
    "Notification",
    "Stop",
    "StopFailure",
)
"""What is asked for."""

PLACES = ("QWEN_CODE_SYSTEM_DEFAULTS_PATH", "QWEN_CODE_SYSTEM_SETTINGS_PATH")
"""Variables that name a settings file of the machine, the lowest first."""

HOOK_TIMEOUT_MS = 10_000


class Qwen:
    """The recipe of ``qwen``."""

    name = "qwen"

    def setup(self, at: Setting) -> HookSetup:
        """A settings file, in the place that the operator's environment leaves free; nothing where both are taken."""
        free = next((name for name in PLACES if not at.env.get(name)), None)
        if free is None:
            return HookSetup()
        file = _settings(at)
        return HookSetup(env={free: file.path}, files=(file,))

    def read(self, event: str, payload: Mapping[str, object]) -> Said | None:
        """As Recipe says."""
        read = _READ.get(event or text(payload, "hook_event_name") or "")
        return read(payload) if read else None


# -- how it is given its hooks


def _settings(at: Setting) -> HostFile:
    hook = {"type": "command", "command": shlex.join(at.command(Qwen.name)), "timeout": HOOK_TIMEOUT_MS}
    settings = {
        # An update in one run would change the program under the others.
        "general": {"enableAutoUpdate": False},
        # An Enter on an empty input would send what qwen suggests.
        "ui": {"enableFollowupSuggestions": False},
        "hooks": {name: [{"hooks": [hook]}] for name in EVENTS},
    }
    data = json.dumps(settings, indent=1).encode()
    return HostFile(f"{at.home}/hooks/qwen-{hashlib.sha256(data).hexdigest()[:12]}.json", data)


# -- what its hooks say


def _ask(payload: Mapping[str, object]) -> Ask:
    return words.ask(payload, questions="ask_user_question", plan="exit_plan_mode")


def _permission(payload: Mapping[str, object]) -> Said:
    return Said(activity="waiting", ask=_ask(payload))


def _tool_begins(payload: Mapping[str, object]) -> Said:
    """Tools run side by side: only the one that was asked for shows that the question is answered."""
    return Said(activity="working", answered=_ask(payload).line)


def _stop(payload: Mapping[str, object]) -> Said:
    """With how full the context is; what was used in all stands only in the chat file."""
    tokens, limit = number(payload, "input_tokens"), number(payload, "context_limit")
    told = tokens is not None or limit is not None
    return words.stop(payload, Usage(context_tokens=tokens, context_limit=limit) if told else None)


def _stop_failed(payload: Mapping[str, object]) -> Said:
    return words.stop_failed(payload, "error_details", "last_assistant_message", "error")


_READ: Mapping[str, Callable[[Mapping[str, object]], Said | None]] = {
    "SessionStart": words.session,
    "UserPromptSubmit": words.prompt,
    "PermissionRequest": _permission,
    "PreToolUse": _tool_begins,
    "Notification": words.notification,
    "Stop": _stop,
    "StopFailure": _stop_failed,
}

"""Kimi Code: hooks in the operator's own config file, because it takes none for a single run.

What is written there does nothing outside a run of pam's, and it is the same for every home and version of pam: the
command to call is taken from the environment. Only events are asked for that both of its readers of that file know; one
of them finds the operator's login there.

``SessionStart`` comes with the first prompt. ``Stop`` comes for a subagent too and does not say so: the end of a turn
is read in the session's wire file, which is looked at whenever a hook speaks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from providers.recipes import claude_words as words
from providers.recipes.kimi_workspace import workspace_key
from providers.recipes.own_toml import with_tables
from providers.recipes.payload import text
from providers.recipes.recipe import Answer, Ask, HookSetup, Said, Setting

QUESTIONS = "AskUserQuestion"
PLAN = "ExitPlanMode"

EVENTS = {
    "SessionStart": "",
    "UserPromptSubmit": "",
    "PreToolUse": f"^{QUESTIONS}$",
    "PermissionRequest": "",
    "PermissionResult": "",
    "PostToolUse": "",
    "PostToolUseFailure": "",
    "Stop": "",
    "StopFailure": "",
    "Interrupt": "",
    "Notification": "",
}
"""What is asked for, and for which tools. ``Stop`` and ``Notification`` only wake whoever reads the wire file."""

HOOK_TIMEOUT_S = 10

COMMAND = '[ -z "$PAM_SIGNAL" ] || eval "$PAM_SIGNAL hook kimi"; exit 0'
"""For a shell. Exit code 2 would be a veto, and it is also what Python ends with when its program is gone."""

MARK = "$PAM_SIGNAL"
"""Stands in the commands that are pam's, of whatever version."""


class Kimi:
    """The recipe of ``kimi``."""

    name = "kimi"

    def setup(self, at: Setting) -> HookSetup:
        """The hooks in its config file, and its trust in the directory."""
        home = at.env.get("KIMI_CODE_HOME") or f"{at.user_home}/.kimi-code"
        trust = f"{home}/workspace-trust/{workspace_key(at.cwd)}"
        return HookSetup(
            answers=(
                Answer(f"{home}/config.toml", "kimi reports to pam in pam's runs", _with_hooks),
                Answer(trust, f"kimi trusts {at.cwd}", _trusting(at.cwd)),
            )
        )

    def read(self, event: str, payload: Mapping[str, object]) -> Said | None:
        """As Recipe says."""
        read = _READ.get(event or text(payload, "hook_event_name") or "")
        return read(payload) if read else None


# -- how it is given its hooks


def _with_hooks(data: bytes | None) -> bytes | None:
    return with_tables(data, "hooks", [_hook(*each) for each in EVENTS.items()], lambda hook: MARK in _command(hook))


def _hook(event: str, tools: str) -> dict[str, object]:
    matcher = {"matcher": tools} if tools else {}
    return {"event": event, **matcher, "command": COMMAND, "timeout": HOOK_TIMEOUT_S}


def _command(hook: Mapping[str, object]) -> str:
    return text(hook, "command") or ""


def _trusting(cwd: str) -> Callable[[bytes | None], bytes | None]:
    def edit(data: bytes | None) -> bytes | None:
        """A file that is there is trust, whatever stands in it."""
        return json.dumps({"root": cwd.rstrip("/"), "trustedAt": 0}).encode() if data is None else None

    return edit


# -- what its hooks say


def _session(payload: Mapping[str, object]) -> Said:
    # At its startup a prompt is on its way already; only one that goes on waits for it.
    resumed = text(payload, "source") == "resume"
    return Said(
        activity="idle" if resumed else None,
        conversation_id=text(payload, "session_id"),
        model=text(payload, "model"),
    )


def _prompt(payload: Mapping[str, object]) -> Said:
    return Said(activity="working", accepted=True, conversation_id=text(payload, "session_id"))


def _tool_begins(payload: Mapping[str, object]) -> Said | None:
    return Said(activity="waiting", ask=_asked(payload)) if text(payload, "tool_name") == QUESTIONS else None


def _permission(payload: Mapping[str, object]) -> Said:
    return Said(activity="waiting", ask=_asked(payload))


def _went_on(payload: Mapping[str, object]) -> Said:
    """Tools run side by side, and subagents': only the one that was asked for shows that the question is answered."""
    return Said(activity="working", answered=_asked(payload).line)


def _stop_failed(payload: Mapping[str, object]) -> Said:
    return words.stop_failed(payload, "error_message", "error_type")


def _interrupt(_: Mapping[str, object]) -> Said:
    return Said(activity="idle", interrupted=True)


_READ: Mapping[str, Callable[[Mapping[str, object]], Said | None]] = {
    "SessionStart": _session,
    "UserPromptSubmit": _prompt,
    "PreToolUse": _tool_begins,
    "PermissionRequest": _permission,
    "PermissionResult": _went_on,
    "PostToolUse": _went_on,
    "PostToolUseFailure": _went_on,
    "StopFailure": _stop_failed,
    "Interrupt": _interrupt,
}


def _asked(payload: Mapping[str, object]) -> Ask:
    """The same for a tool that asks and for one that has ended: what they share is the tool's input."""
    return words.ask(payload, questions=QUESTIONS, plan=PLAN)

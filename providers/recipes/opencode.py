"""opencode: a plugin of ours, named in the configuration that opencode takes from its environment.

The operator's own value of that variable is kept; opencode merges it with his files, so his plugins run beside ours.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping

from providers.recipes.opencode_plugin import plugin
from providers.recipes.payload import at, number, one_line, text
from providers.recipes.recipe import Ask, HookSetup, HostFile, Said, Setting, Usage

CONFIG = "OPENCODE_CONFIG_CONTENT"
"""The variable with configuration as JSON, read after every file."""

PERMISSION = "OPENCODE_PERMISSION"
"""The variable with permissions as JSON, over those of every file."""
APPROVALS: Mapping[str, Mapping[str, str]] = {
    "ask": {"edit": "ask", "bash": "ask"},
    "edits": {"edit": "allow", "bash": "ask"},
}
"""The approval modes for which it has no flag."""

INTERRUPTED = "MessageAbortedError"


class Opencode:
    """The recipe of ``opencode``."""

    name = "opencode"

    def setup(self, at: Setting) -> HookSetup:
        """The plugin and the variable that names it; without hooks when the operator's own value is not JSON."""
        data = plugin(at.command(self.name))
        file = HostFile(f"{at.home}/hooks/opencode-{hashlib.sha256(data).hexdigest()[:12]}.mjs", data)
        config = _with_plugin(at.env.get(CONFIG), f"file://{file.path}")
        env = _permissions(at.env.get(PERMISSION), APPROVALS.get(at.approvals or "", {}))
        return HookSetup(env={**env, CONFIG: config}, files=(file,)) if config else HookSetup(env=env)

    def read(self, event: str, payload: Mapping[str, object]) -> Said | None:
        """As Recipe says."""
        read = _READ.get(event or text(payload, "type") or "")
        return read(payload) if read else None


def _with_plugin(config: str | None, plugin: str) -> str | None:
    """The configuration with one more plugin; None when it is not understood and so must stay as it is."""
    own = _object(config)
    if own is None or not isinstance(plugins := own.get("plugin", []), list):
        return None
    return json.dumps({**own, "plugin": [*plugins, plugin]})


def _permissions(own: str | None, asked: Mapping[str, str]) -> dict[str, str]:
    """Those of the mode, over the operator's own."""
    return {PERMISSION: json.dumps({**(_object(own) or {}), **asked})} if asked else {}


def _object(value: str | None) -> dict[str, object] | None:
    """A variable's JSON object, empty where it is not set; None for anything else."""
    try:
        found = json.loads(value) if value and value.strip() else {}
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


# -- what the plugin says


def _ready(payload: Mapping[str, object]) -> Said:
    return Said(activity=None if payload.get("busy") is True else "idle")


def _created(payload: Mapping[str, object]) -> Said:
    return Said(conversation_id=text(payload, "sessionID"))


def _prompt(payload: Mapping[str, object]) -> Said:
    return Said(activity="working", accepted=True, conversation_id=text(payload, "sessionID"))


def _status(payload: Mapping[str, object]) -> Said | None:
    match text(payload, "status", "type"):
        case "busy":
            return Said(activity="working", conversation_id=text(payload, "sessionID"))
        case "retry":
            why = text(payload, "status", "message")
            attempt = number(payload, "status", "attempt")
            return Said(
                activity="working", note=one_line(f"tries again ({attempt or '?'}): {why or 'no reason given'}")
            )
        case _:
            return None


def _idle(payload: Mapping[str, object]) -> Said:
    return Said(
        activity="idle",
        completed=text(payload, "ended") == "well",
        interrupted=text(payload, "ended") == "denied",
        conversation_id=text(payload, "sessionID"),
    )


def _error(payload: Mapping[str, object]) -> Said:
    name = text(payload, "error", "name")
    if name == INTERRUPTED:
        return Said(activity="idle", interrupted=True)
    why = text(payload, "error", "data", "message") or text(payload, "error", "message") or name
    return Said(activity="idle", failed=one_line(why) or "the turn failed")


def _usage(payload: Mapping[str, object]) -> Said | None:
    usage = _counted(payload)
    return Said(usage=usage, model=usage.model) if usage else None


def _permission(payload: Mapping[str, object]) -> Said:
    """``permission`` is what it is about: edit, bash, external_directory…"""
    about = text(payload, "permission") or ""
    patterns = payload.get("patterns")
    named = [one for one in patterns if isinstance(one, str)] if isinstance(patterns, list) else []
    detail = text(payload, "metadata", "command") or text(payload, "metadata", "filepath") or ", ".join(named)
    return Said(activity="waiting", ask=Ask("permission", one_line(detail), one_line(about)))


def _question(payload: Mapping[str, object]) -> Said:
    questions = payload.get("questions")
    asked = [text(one, "question") for one in questions if isinstance(one, dict)] if isinstance(questions, list) else []
    return Said(activity="waiting", ask=Ask("question", one_line(" · ".join(filter(None, asked))) or "a question"))


def _answered(_payload: Mapping[str, object]) -> Said:
    """The plugin says this when no other question is open."""
    return Said(activity="working")


_READ: Mapping[str, Callable[[Mapping[str, object]], Said | None]] = {
    "pam.ready": _ready,
    "pam.usage": _usage,
    "session.created": _created,
    "chat.message": _prompt,
    "session.status": _status,
    "session.idle": _idle,
    "session.error": _error,
    "permission.asked": _permission,
    "permission.replied": _answered,
    "question.asked": _question,
    "question.replied": _answered,
    "question.rejected": _answered,
}


def _counted(payload: Mapping[str, object]) -> Usage | None:
    """The totals of a conversation with its subagents; its context is that of the last answer.

    opencode counts what came from a cache beside the input, and what the model thought beside the output.
    """
    if not isinstance(at(payload, "usage"), Mapping):
        return None
    count = {
        name: number(payload, "usage", "totals", name) for name in ("input", "output", "read", "write", "reasoning")
    }
    return Usage(
        input_tokens=count["input"],
        output_tokens=None if count["output"] is None else count["output"] + (count["reasoning"] or 0),
        cache_read_tokens=count["read"],
        cache_write_tokens=count["write"],
        reasoning_tokens=count["reasoning"],
        cost_usd=_money(at(payload, "usage", "totals", "cost")),
        context_tokens=_context(payload),
        context_limit=number(payload, "usage", "limit") or None,
        model=text(payload, "usage", "model"),
    )


def _context(payload: Mapping[str, object]) -> int | None:
    used = [
        number(payload, "usage", "context", *path)
        for path in (("input",), ("output",), ("reasoning",), ("cache", "read"), ("cache", "write"))
    ]
    known = [tokens for tokens in used if tokens is not None]
    return sum(known) if known else None


def _money(value: object) -> float | None:
    real = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")
    return float(value) if real else None  # type: ignore[arg-type]

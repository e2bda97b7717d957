"""Codex: hooks and their trust in ``-c`` overrides of one run, beside the operator's own.

Codex runs a hook of which it knows the hash and asks about any other. The hash of ours is computed here and given with
it, so that no question comes up and nothing else is trusted: hooks of a repository still wait for their review.

``SessionStart`` comes with the first prompt, not before. A permission that is granted says nothing until its tool has
ended; one that is refused interrupts the turn. A turn that fails calls no hook at all, and ``notify`` also speaks for
the thread that finds a title: both stand in the rollout file, which ``SessionStart`` names.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from providers.recipes.payload import at, one_line, text
from providers.recipes.recipe import Answer, Ask, HookSetup, Said, Setting

QUESTION = "request_user_input"
"""The tool by which the agent asks the operator; no permission is asked for it."""

EVENTS = {
    "SessionStart": "",
    "UserPromptSubmit": "",
    "PreToolUse": QUESTION,
    "PermissionRequest": "",
    "PostToolUse": "",
    "Stop": "",
    "Interrupt": "",
}
"""What is asked for, with the tools that it is asked for. The end of a subagent has a name of its own."""

HOOK_TIMEOUT_S = 3
"""All that codex allows to ``Interrupt``. It is part of the hash: one that codex shortens itself would not match."""

SOURCE = "/<session-flags>/config.toml"
"""How codex calls the place where hooks of a command line come from."""

TRUSTED = "trusted"

_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


class Codex:
    """The recipe of ``codex``."""

    name = "codex"

    def setup(self, at: Setting) -> HookSetup:
        """Overrides that give the hooks and trust exactly them, and one that trusts the directory for this run.

        Codex merges them over its config file key by key: hooks, projects and trust in there still count. That of the
        directory would also win over an operator who trusts it not, so it is given only where the file says nothing.
        """
        command = shlex.join(at.command(Codex.name))
        if not _is_text(command):
            return HookSetup()
        return HookSetup(args=("-c", f"hooks={_hooks(command)}"), answers=_answers(at))

    def read(self, event: str, payload: Mapping[str, object]) -> Said | None:
        """As Recipe says."""
        read = _READ.get(event or text(payload, "hook_event_name") or "")
        return read(payload) if read else None


# -- how it is given its hooks


def trusted_hash(event: str, tools: str, command: str) -> str:
    """What codex compares a hook with: its normalized definition as JSON with sorted keys, no spaces, UTF-8.

    ``event`` is the name in snake case. A status message would be part of it; ours have none.
    """
    hook = {"type": "command", "command": command, "timeout": HOOK_TIMEOUT_S, "async": False}
    identity = {"event_name": event, **({"matcher": tools} if tools else {}), "hooks": [hook]}
    said = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(said.encode()).hexdigest()}"


def toml_string(said: str) -> str:
    """A basic string of TOML."""
    escaped = re.sub(r'["\\\x00-\x1f\x7f]', lambda found: f"\\u{ord(found[0]):04x}", said)
    return f'"{escaped}"'


def _hooks(command: str) -> str:
    """The table of the hooks and of the trust in each of them."""
    hook = _table({"type": '"command"', "command": toml_string(command), "timeout": str(HOOK_TIMEOUT_S)})
    groups, state = {}, {}
    for event, tools in EVENTS.items():
        matcher = {"matcher": toml_string(tools)} if tools else {}
        groups[event] = f"[{_table({**matcher, 'hooks': f'[{hook}]'})}]"
        label = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        state[f"{SOURCE}:{label}:0:0"] = _table({"trusted_hash": toml_string(trusted_hash(label, tools, command))})
    return _table({**groups, "state": _table(state)})


def _table(values: Mapping[str, str]) -> str:
    """An inline table of values that are TOML already."""
    return "{" + ",".join(f"{_key(name)}={value}" for name, value in values.items()) + "}"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_string(name)


def _is_text(said: str) -> bool:
    """Whether it can stand in TOML, which is UTF-8; the bytes of a path need not be."""
    return not any("\ud800" <= char <= "\udfff" for char in said)


def _answers(at: Setting) -> tuple[Answer, ...]:
    if not _is_text(at.cwd):
        return ()
    path = f"{at.env.get('CODEX_HOME') or f'{at.user_home}/.codex'}/config.toml"
    trust = _table({at.cwd: _table({"trust_level": toml_string(TRUSTED)})})
    return (Answer(path, f"codex trusts {at.cwd}", _trusting(at.cwd), args=("-c", f"projects={trust}")),)


def _trusting(cwd: str) -> Callable[[bytes | None], bytes | None]:
    """Something to say where the file says nothing of the directory, and of none above it that it is not trusted."""

    def edit(data: bytes | None) -> bytes | None:
        try:
            config = tomllib.loads((data or b"").decode())
        except RecursionError as error:
            raise ValueError("it is nested too deep") from error
        places = (cwd, *map(str, PurePosixPath(cwd).parents))
        own, *above = (text(config, "projects", place, "trust_level") for place in places)
        nearest = next(filter(None, above), TRUSTED)
        return None if own or nearest != TRUSTED else data or b""

    return edit


# -- what its hooks say


def _session(payload: Mapping[str, object]) -> Said:
    # Not idle: its prompt follows at once, and after a compaction the turn goes on.
    return _conversation(payload)


def _prompt(payload: Mapping[str, object]) -> Said | None:
    if _of_subagent(payload):
        return None
    return replace(_conversation(payload), activity="working", accepted=True)


def _asks(payload: Mapping[str, object]) -> Said:
    return Said(activity="waiting", ask=_ask(payload))


def _tool_begins(payload: Mapping[str, object]) -> Said | None:
    return _asks(payload) if text(payload, "tool_name") == QUESTION else None


def _tool_ended(payload: Mapping[str, object]) -> Said:
    """No tool of the main agent ends while it asks; one of a subagent shows only that its own question is answered."""
    return Said(activity="working", answered=_ask(payload).line if _of_subagent(payload) else None)


def _stop(_: Mapping[str, object]) -> Said:
    return Said(activity="idle", completed=True)


def _interrupt(_: Mapping[str, object]) -> Said:
    return Said(activity="idle", interrupted=True)


_READ: Mapping[str, Callable[[Mapping[str, object]], Said | None]] = {
    "SessionStart": _session,
    "UserPromptSubmit": _prompt,
    "PreToolUse": _tool_begins,
    "PermissionRequest": _asks,
    "PostToolUse": _tool_ended,
    "Stop": _stop,
    "Interrupt": _interrupt,
}


def _conversation(payload: Mapping[str, object]) -> Said:
    return Said(
        conversation_id=text(payload, "session_id"),
        transcript=text(payload, "transcript_path"),
        model=text(payload, "model"),
    )


def _of_subagent(payload: Mapping[str, object]) -> bool:
    return text(payload, "agent_id") is not None


def _ask(payload: Mapping[str, object]) -> Ask:
    """What a tool is about, the same before and after it: the permission's reason is not in it."""
    tool, given = text(payload, "tool_name") or "", at(payload, "tool_input")
    values = given if isinstance(given, Mapping) else {}
    if tool == QUESTION:
        return Ask("question", _questions(values) or "a question")
    command = text(values, "command")
    if tool == "apply_patch" and command:
        return Ask("permission", one_line(", ".join(_PATCHED.findall(command)) or command), tool)
    first = next((value for value in values.values() if isinstance(value, str) and value), None)
    return Ask("permission", one_line(command or first), tool)


def _questions(given: Mapping[str, object]) -> str:
    asked = given.get("questions")
    found = [text(one, "question") for one in asked if isinstance(one, Mapping)] if isinstance(asked, list) else []
    return one_line(" · ".join(filter(None, found)))

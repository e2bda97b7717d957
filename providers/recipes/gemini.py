"""Gemini CLI: hooks in an extension of ours beside the operator's, since it has no flag for them.

Its system settings must belong to root and its project settings would lie in the repository. The extension is the same
for every run and every home of pam's: its hooks call ``$PAM_SIGNAL``, and do nothing where there is none. A turn that
failed or was interrupted ends as one that is well; the end of the chat file tells them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from providers.recipes.own_file import parsed, table, written
from providers.recipes.payload import at, one_line, text
from providers.recipes.recipe import Answer, Ask, HookSetup, Said, Setting
from providers.transcripts.reader import reason

EVENTS = ("SessionStart", "BeforeAgent", "BeforeTool", "Notification", "AfterTool", "AfterAgent", "SessionEnd")

HOOK_TIMEOUT_MS = 5000

_UNLESS = '[ -z "$PAM_SIGNAL" ] || [ -n "$GEMINI_CLI" ] ||'
COMMAND = f'{_UNLESS} eval "$PAM_SIGNAL hook gemini"'
"""``GEMINI_CLI`` is set in what gemini's own shell tool starts: a gemini in there is not the run."""

CANCELLED, FAILED = "Cancelled", "Failed"
"""Events of ours: how a turn ended that ended with AfterAgent."""

_CHAT = r"""sed -n 's/.*"transcript_path":"\([^"]*\)".*/\1/p'"""
AT_END = (
    f'{_UNLESS} {{ said=$(cat); chat=$(printf %s "$said" | {_CHAT}); how=; '
    """last=$(tail -n 8 "$chat" 2>&1 | grep '^{"id":' | tail -n 2); """
    f"""case $(printf %s "$last" | tail -n 1) in *'"content":"Request cancelled."'*) how={CANCELLED};; """
    f"""*) why=$(printf %s "$last" | grep '"type":"error"') && how={FAILED} && said=$why;; esac; """
    'printf %s "$said" | eval "$PAM_SIGNAL hook gemini $how"; }'
)
"""The same for AfterAgent. A line of the chat that tells of an error or a cancelled request is written before.

The line with the error takes the place of the payload.
"""

ABOUT = "Tells pam (project agent manager) how its runs get on. Does nothing outside of them."

NO_TEXT = "[no response text]"
"""The answer of a turn without one: the request failed, or was interrupted before it came."""

_SHELL, _EDIT = "Shell", "Edit"
_TOOLS = {"run_shell_command": _SHELL, "write_file": _EDIT, "replace": _EDIT}
_ASKS = frozenset({"ask_user", "exit_plan_mode", "enter_plan_mode", "activate_skill", "web_fetch"})
"""Tools that ask by a title of their own."""


class Gemini:
    """The recipe of ``gemini``."""

    name = "gemini"

    def setup(self, at: Setting) -> HookSetup:
        """The extension, and the answer to how the operator signs in, when his key says it and he has not."""
        own = f"{at.env.get('GEMINI_CLI_HOME') or at.user_home}/.gemini"
        directory = f"{own}/extensions/pam"
        answers = [
            Answer(f"{directory}/{name}", "gemini has the extension that tells pam of its runs", _extending(data))
            for name, data in _extension(directory).items()
        ]
        if at.env.get("GEMINI_API_KEY"):
            answers.append(Answer(f"{own}/settings.json", "gemini signs in with GEMINI_API_KEY", _signing_in))
        return HookSetup(answers=tuple(answers))

    def read(self, event: str, payload: Mapping[str, object]) -> Said | None:
        """As Recipe says."""
        read = _READ.get(event or text(payload, "hook_event_name") or "")
        return read(payload) if read else None


# -- how it is given its hooks


def _extension(directory: str) -> dict[str, bytes]:
    """The files of the extension; the manifest last, for without it there is no extension."""
    files: dict[str, Mapping[str, object]] = {
        # An operator who allows some extensions only is spared an error at every start.
        ".gemini-extension-install.json": {"source": directory, "type": "link"},
        "hooks/hooks.json": {"description": ABOUT, "hooks": {event: [{"hooks": [_hook(event)]}] for event in EVENTS}},
        "gemini-extension.json": {"name": "pam", "version": "1.0.0", "description": ABOUT},
    }
    return {name: written(content) + b"\n" for name, content in files.items()}


def _hook(event: str) -> Mapping[str, object]:
    command = AT_END if event == "AfterAgent" else COMMAND
    return {"name": "pam", "type": "command", "command": command, "timeout": HOOK_TIMEOUT_MS}


def _extending(ours: bytes) -> Callable[[bytes | None], bytes | None]:
    """Writes the file unless it is there as it should be; somebody else's extension of that name is left alone."""

    def edit(data: bytes | None) -> bytes | None:
        if data == ours:
            return None
        if data is not None and text(parsed(data), "description") != ABOUT and "source" not in parsed(data):
            raise ValueError("an extension named pam is there that is not pam's")
        return ours

    return edit


def _signing_in(data: bytes | None) -> bytes | None:
    state = parsed(data)
    auth = table(table(state, "security"), "auth")
    if auth.get("selectedType") or auth.get("useExternal"):
        return None
    auth["selectedType"] = "gemini-api-key"
    return written(state)


# -- what its hooks say


def _session(payload: Mapping[str, object]) -> Said:
    # Resumed, it names a file that it never writes; the first prompt names the right one.
    resumed = text(payload, "source") == "resume"
    return Said(
        activity="idle",
        conversation_id=text(payload, "session_id"),
        transcript=None if resumed else text(payload, "transcript_path"),
    )


def _prompt(payload: Mapping[str, object]) -> Said:
    return Said(activity="working", accepted=True, transcript=text(payload, "transcript_path"))


def _tool_begins(payload: Mapping[str, object]) -> Said | None:
    """It comes before the permission is asked; a question to the operator is asked by the tool itself."""
    return _question(payload) if text(payload, "tool_name") == "ask_user" else None


def _question(payload: Mapping[str, object]) -> Said:
    questions = at(payload, "tool_input", "questions")
    asked = [text(one, "question") for one in questions if isinstance(one, dict)] if isinstance(questions, list) else []
    return Said(activity="waiting", ask=Ask("question", one_line(" · ".join(filter(None, asked))) or "a question"))


def _notification(payload: Mapping[str, object]) -> Said | None:
    if text(payload, "notification_type") != "ToolPermission":
        return None
    title = one_line(text(payload, "details", "title") or text(payload, "message"))
    match text(payload, "details", "type"):
        case "exec":
            ask = Ask("permission", one_line(text(payload, "details", "command")) or title, _SHELL)
        case "edit":
            ask = Ask("permission", one_line(_edited(payload)) or title, _EDIT)
        case "mcp":
            ask = Ask(
                "permission",
                one_line(text(payload, "details", "toolName")),
                one_line(text(payload, "details", "serverName")),
            )
        case "ask_user":
            return Said(activity="waiting")  # the beginning of the tool said what for
        case "exit_plan_mode":
            ask = Ask("plan", title or "a plan")
        case _:
            ask = Ask("permission", one_line(text(payload, "details", "prompt")) or title)
    return Said(activity="waiting", ask=ask)


def _edited(payload: Mapping[str, object]) -> str | None:
    return text(payload, "details", "filePath") or text(payload, "details", "fileName")


def _tool_ended(payload: Mapping[str, object]) -> Said:
    """Tools run side by side: only the one that was asked for shows that the question is answered."""
    return Said(activity="working", answered=_asked_for(payload))


def _asked_for(payload: Mapping[str, object]) -> str | None:
    """The question of a tool that ends, as its notification put it; None for any question."""
    name = text(payload, "tool_name") or ""
    if name in _ASKS:
        return None
    if server := text(payload, "mcp_context", "server_name"):
        return Ask("permission", one_line(text(payload, "mcp_context", "tool_name")), one_line(server)).line
    tool, given = _TOOLS.get(name), text(payload, "tool_input", "command")
    if tool == _EDIT:
        file = text(payload, "tool_input", "file_path")
        given = str(PurePosixPath(text(payload, "cwd") or "/", file)) if file else None
    return Ask("permission", one_line(given), tool or name).line


def _turn_ended(payload: Mapping[str, object]) -> Said:
    answer = (text(payload, "prompt_response") or "").strip()
    if not answer or answer == NO_TEXT:
        return Said(activity="idle", failed="the turn ended without an answer")
    return Said(activity="idle", completed=True)


def _turn_failed(line: Mapping[str, object]) -> Said:
    return Said(activity="idle", failed=reason(line.get("content")) or "the request failed")


def _turn_cancelled(_payload: Mapping[str, object]) -> Said:
    return Said(activity="idle", interrupted=True)


_READ: Mapping[str, Callable[[Mapping[str, object]], Said | None]] = {
    "SessionStart": _session,
    "BeforeAgent": _prompt,
    "BeforeTool": _tool_begins,
    "Notification": _notification,
    "AfterTool": _tool_ended,
    "AfterAgent": _turn_ended,
    FAILED: _turn_failed,
    CANCELLED: _turn_cancelled,
}

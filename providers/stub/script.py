"""What the stub model was told to do: directives that whoever tests a CLI writes into the prompt itself.

``[[say TEXT]]``        answer TEXT
``[[slow N]]``          spread the answer over N seconds
``[[err CODE]]``        answer with HTTP status CODE (400 to 599) and an error body in the API's shape
``[[hang]]``            answer nothing until the client goes
``[[write PATH TEXT]]`` call the CLI's file-writing tool first, answer once its result came back
``[[bash COMMAND]]``    call the CLI's shell tool first, answer once its result came back
``[[permit COMMAND]]``  the same, but in a CLI with a sandbox ask to leave it, so that the operator is asked
``[[tool NAME JSON]]``  call the tool NAME with these arguments first, answer once its result came back

Without a directive the answer is ``STUB-OK:`` and the first words of the prompt. A command cannot hold ``]]``. Only the
last paragraph with directives counts: a CLI whose prompt got no answer sends it once more before the next one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Tools = Mapping[str, Mapping[str, object]]
"""The tools that a CLI offers: by name, the JSON schemas of the parameters, by their names."""

TOOL_RESULT = None
"""Stands among the texts of the user where a tool's result came back."""

_TOOL = r"\[\[(?P<tool>tool)\s+(?P<call>\S+?(?:\s+\{.*?\})?)\s*\]\]"
_OTHER = r"\[\[(?P<name>say|slow|err|hang|write|bash|permit)\b\s*(?P<value>.*?)\]\]"
_DIRECTIVE = re.compile(f"{_TOOL}|{_OTHER}", re.DOTALL)

_REMINDER = re.compile(r"<(system-reminder|reminder|current_datetime)>.*?</\1>", re.DOTALL)
_CONTEXT = ("<environment_context>", "<user_instructions>", "# AGENTS.md")
"""How a text begins that a CLI sends in the user's name and the user did not write."""

_SHELL_TOOLS = (
    *("Bash", "exec_command", "shell_command", "run_shell_command", "run_terminal_command"),
    *("bash", "Shell", "shell"),
)
_WRITE_TOOLS = ("Write", "write_file", "WriteFile", "write", "create_file", "create")
_PATH_NAMES = ("file_path", "filePath", "path", "absolute_path")
_CONTENT_NAMES = ("content", "contents", "file_text", "text")


class Malformed(ValueError):
    """A request that no model API would take; the text says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool of the CLI and the arguments to call it with."""

    name: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Script:
    """The directives of one prompt and the tools that the CLI offered with it."""

    prompt: str
    directives: Mapping[str, str] = field(default_factory=dict)
    has_result: bool = False
    """Whether a tool result came back after this prompt: the call was made, the answer is due."""
    tools: Tools = field(default_factory=dict)

    @property
    def answer(self) -> str:
        """The text to answer with."""
        plain = _DIRECTIVE.sub("", self.prompt).strip()
        return self.directives.get("say") or "STUB-OK: " + (plain.replace("\n", " ")[:60] or "done")

    @property
    def slow_s(self) -> float:
        """Seconds over which the answer is spread."""
        return float(self.directives.get("slow", 0))

    @property
    def error_status(self) -> int | None:
        """HTTP status to fail with, if any."""
        code = self.directives.get("err")
        return int(code) if code else None

    @property
    def hangs(self) -> bool:
        """Whether the answer never comes."""
        return "hang" in self.directives

    @property
    def tool_call(self) -> ToolCall | None:
        """The tool call that is due before the answer, if any."""
        if self.has_result or not self.tools:
            return None
        if "tool" in self.directives:
            return _named_call(self.directives["tool"])
        if "write" in self.directives:
            path, _, text = self.directives["write"].partition(" ")
            return self._write_call(path, text or "hello from the stub\n")
        if "permit" in self.directives:
            return self._shell_call(self.directives["permit"], leaves_sandbox=True)
        return self._shell_call(self.directives["bash"]) if "bash" in self.directives else None

    def _write_call(self, path: str, text: str) -> ToolCall | None:
        tool = next((name for name in _WRITE_TOOLS if name in self.tools), None)
        if tool is None:
            return self._shell_call(f"printf '%s' {json.dumps(text)} > {path}")
        return self._call(tool, {**dict.fromkeys(_PATH_NAMES, path), **dict.fromkeys(_CONTENT_NAMES, text)})

    def _shell_call(self, command: str, leaves_sandbox: bool = False) -> ToolCall | None:
        tool = next((name for name in _SHELL_TOOLS if name in self.tools), None)
        wanted = {"command": command, "cmd": command, "description": "stub command"}
        if leaves_sandbox:
            wanted |= {"sandbox_permissions": "require_escalated", "justification": "The stub was told to ask."}
        return self._call(tool, wanted) if tool else None

    def _call(self, tool: str, wanted: Mapping[str, str]) -> ToolCall:
        """A call with those arguments that the tool has; a command as a list where the tool wants one."""
        schemas = self.tools[tool]
        return ToolCall(tool, {name: _fitting(schemas[name], text) for name, text in wanted.items() if name in schemas})


def script_of(texts: Iterable[str | None], tools: Tools) -> Script:
    """The script in the last of the user's texts, oldest first, with ``TOOL_RESULT`` where a result came back.

    Raises:
        Malformed: a directive has a value that it cannot have.
    """
    prompt, has_result = "", False
    for said in texts:
        if said is TOOL_RESULT:
            has_result = True
        elif (text := _without_reminders(said)) and not text.startswith(_CONTEXT):
            prompt, has_result = text, False
    return Script(prompt, read_directives(prompt), has_result, tools)


def read_directives(prompt: str) -> dict[str, str]:
    """The directives of the last paragraph that has any; of two with one name the last wins.

    Raises:
        Malformed: a directive has a value that it cannot have.
    """
    found: dict[str, str] = {}
    end = 0
    for match in _DIRECTIVE.finditer(prompt):
        if "\n\n" in prompt[end : match.start()]:
            found.clear()
        found[match["name"] or match["tool"]] = (match["value"] or match["call"] or "").strip()
        end = match.end()
    _check(found)
    return found


def _check(found: Mapping[str, str]) -> None:
    if "slow" in found and not re.fullmatch(r"\d+(\.\d+)?", found["slow"]):
        raise Malformed(f"[[slow {found['slow']}]] needs seconds, as in [[slow 2]]")
    if "err" in found and not re.fullmatch(r"[45]\d\d", found["err"]):
        raise Malformed(f"[[err {found['err']}]] needs an HTTP status from 400 to 599")
    if "tool" in found:
        _named_call(found["tool"])


def _without_reminders(text: str) -> str:
    return _REMINDER.sub("", text).strip()


def _named_call(directive: str) -> ToolCall:
    name, _, arguments = directive.partition(" ")
    try:
        return ToolCall(name, json.loads(arguments.strip() or "{}"))
    except ValueError as error:
        raise Malformed(f"[[tool {directive}]] needs a JSON object after the tool's name: {error}") from None


def _fitting(schema: object, text: str) -> object:
    is_list = isinstance(schema, Mapping) and schema.get("type") == "array"
    return ["/bin/sh", "-c", text] if is_list else text

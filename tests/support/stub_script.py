"""What the stub model was told to do: directives that a test writes into the prompt itself.

``[[say TEXT]]``        answer TEXT
``[[slow N]]``          spread the answer over N seconds
``[[err CODE]]``        answer with HTTP status CODE and an error body in the API's shape
``[[bash COMMAND]]``    call the CLI's shell tool first, answer once its result came back
``[[write PATH TEXT]]`` call the CLI's file-writing tool first, answer once its result came back

Without a directive the answer is ``STUB-OK:`` and the first words of the prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_DIRECTIVE = re.compile(r"\[\[(say|slow|err|bash|write)\s+(.*?)\]\]", re.DOTALL)
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)

_SHELL_TOOLS = ("Bash", "exec_command", "shell_command", "run_shell_command", "bash", "shell")
_WRITE_TOOLS = ("Write", "write_file", "write", "create_file")


@dataclass(frozen=True)
class ToolCall:
    """A tool of the CLI and the arguments to call it with."""

    name: str
    arguments: Mapping[str, object]


@dataclass(frozen=True)
class Script:
    """The directives of one prompt and the tools that the CLI offered with it."""

    prompt: str
    directives: Mapping[str, str]
    has_result: bool = False
    """Whether a tool result came back after this prompt: the call was made, the answer is due."""
    tools: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Parameter names of each tool offered, by the tool's name."""

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
    def tool_call(self) -> ToolCall | None:
        """The tool call that is due before the answer, if any."""
        if self.has_result:
            return None
        if "write" in self.directives:
            path, _, text = self.directives["write"].partition(" ")
            return self._write_call(path, text or "hello from the stub\n")
        return self._shell_call(self.directives["bash"]) if "bash" in self.directives else None

    def _write_call(self, path: str, text: str) -> ToolCall | None:
        tool = next((name for name in _WRITE_TOOLS if name in self.tools), None)
        if tool is None:
            return self._shell_call(f"printf '%s' {json.dumps(text)} > {path}")
        return self._call(tool, {"file_path": path, "path": path, "content": text})

    def _shell_call(self, command: str) -> ToolCall | None:
        tool = next((name for name in _SHELL_TOOLS if name in self.tools), None)
        wanted = {"command": command, "cmd": command, "description": "stub command"}
        return self._call(tool, wanted) if tool else None

    def _call(self, tool: str, wanted: Mapping[str, object]) -> ToolCall:
        return ToolCall(tool, {key: value for key, value in wanted.items() if key in self.tools[tool]})


def read_directives(prompt: str) -> dict[str, str]:
    """The directives of a prompt; of two with one name the last wins."""
    return {name: value.strip() for name, value in _DIRECTIVE.findall(prompt)}


def without_reminders(text: str) -> str:
    """A user text without what the CLI put around it for the model's eyes."""
    return _REMINDER.sub("", text).strip()

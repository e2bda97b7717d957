"""Which editor the operator uses, and the command that opens a file in it at a line."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from store.errors import UsageError

_FALLBACKS: Final = ("editor", "nano", "vim", "vi")
"""What a machine has where nobody chose: the system's own choice first. ``sensible-editor`` would ask a question."""
_PLUS: Final = {"vi", "vim", "nvim", "view", "nano", "pico", "emacs", "emacsclient", "micro", "kak", "joe", "ne", "mg"}
"""Editors that take ``+LINE`` before the file."""
_COLON: Final = {"hx", "helix", "subl", "zed"}
"""Editors that take ``FILE:LINE``."""


def editor_argv(environ: Mapping[str, str], path: str, line: int = 1) -> list[str]:
    """The command, from ``$VISUAL``, else ``$EDITOR``, else what is there. Raises UsageError."""
    words = _chosen(environ)
    name = _name(words[0], environ)
    if line > 1 and name in _PLUS:
        return [*words, f"+{line}", path]
    if line > 1 and name in _COLON:
        return [*words, f"{path}:{line}"]
    return [*words, path]


def _name(program: str, environ: Mapping[str, str]) -> str:
    """Of the editor itself, where the program is a link to it: ``vim`` for ``editor`` that leads to ``vim.basic``."""
    name = Path(program).name
    found = shutil.which(program, path=environ.get("PATH"))
    return Path(found).resolve().name.partition(".")[0] if found and name == "editor" else name


def _chosen(environ: Mapping[str, str]) -> list[str]:
    for name in ("VISUAL", "EDITOR"):
        try:
            words = shlex.split(environ.get(name, ""))
        except ValueError as error:
            raise UsageError(f"${name} can't be read: {error}. Set it to a command, such as `nano`.") from None
        if words:
            return words
    found = next((name for name in _FALLBACKS if shutil.which(name, path=environ.get("PATH"))), None)
    if found is None:
        raise UsageError("There is no editor: set EDITOR to the command of yours and start pam anew.")
    return [found]

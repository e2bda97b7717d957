"""tmux is spelled in one folder: everywhere else a raw call would sooner or later reach the wrong server (FR-69)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDERS = ("app", "screens", "providers", "store", "executor", "themes")
ALLOWED = ROOT / "executor" / "tmux"
BUILDER = ALLOWED / "commands"


def test_no_other_file_starts_tmux() -> None:
    """FR-69, PAM-TMUX-001: only ``executor/tmux`` runs tmux or imports libtmux."""
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if ALLOWED not in path.parents]
    assert len(files) > 20
    assert [fault for path in files for fault in faults(path.read_text(encoding="utf-8"), str(path))] == []


def test_only_the_builder_spells_commands() -> None:
    """Inside the folder, the flags of a tmux process come from one function."""
    others = [path for path in ALLOWED.rglob("*.py") if BUILDER not in path.parents]
    assert BUILDER.is_dir() and others
    for path in others:
        words = {node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)}
        assert not words & {"-L", "new-session", "kill-session", "kill-server", "send-keys", "attach-session"}, path


@pytest.mark.parametrize(
    "code",
    [
        "import libtmux",
        "from libtmux.server import Server",
        "subprocess.run(['tmux', 'kill-server'])",
        "run(('tmux', '-L', 'pam'))",
        "run([settings.tmux_bin, 'x'])",
        "os.system('tmux kill-server')",
        "os.execvp('tmux', argv)",
        "asyncio.create_subprocess_exec('tmux', '-V')",
        "run(f'tmux -L {name} ls', shell=True)",
        "shutil.which(settings.tmux_bin)",
    ],
)
def test_the_rule_sees_every_way_to_start_tmux(code: str) -> None:
    """A lint that finds nothing may also be blind."""
    assert list(faults(code, "x"))


@pytest.mark.parametrize(
    "code",
    [
        "Check('tmux', 'ok')",
        "print('tmux 3.2 or newer')",
        "x = Section(tmux_bin='tmux')",
        "SECTIONS = ('tmux', 'providers')",
        "'tmux is missing'",
    ],
)
def test_the_rule_lets_words_about_tmux_pass(code: str) -> None:
    """Doctor and settings speak of tmux without starting it."""
    assert not list(faults(code, "x"))


STARTERS = {"run", "Popen", "call", "check_call", "check_output", "system", "popen", "spawn", "which"} | {
    *("create_subprocess_exec", "create_subprocess_shell", "execv", "execve", "execvp", "execvpe", "execlp", "execl"),
    *("posix_spawn", "posix_spawnp", "spawnvp"),
}


def faults(code: str, path: str) -> Iterator[str]:
    """Places in ``code`` that start tmux, or look like it."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
            if any(name.split(".")[0] == "libtmux" for name in names):
                yield f"{path}:{node.lineno} imports libtmux"
        elif isinstance(node, ast.List | ast.Tuple) and is_argv(node.elts):
            yield f"{path}:{node.lineno} builds a tmux argv"
        elif isinstance(node, ast.Call) and called(node) in STARTERS and node.args and names_tmux(node.args[0]):
            yield f"{path}:{node.lineno} starts tmux"


def is_argv(words: list[ast.expr]) -> bool:
    """Whether a list or tuple is tmux with a flag or command behind it, or with something only known later."""
    if not words or not names_tmux(words[0]):
        return False
    second = words[1] if len(words) > 1 else None
    return not isinstance(second, ast.Constant) or "-" in str(second.value) or isinstance(words[0], ast.Attribute)


def called(node: ast.Call) -> str:
    """Last part of what is called."""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def names_tmux(node: ast.expr) -> bool:
    """Whether the word is the program tmux, or a shell line that starts with it."""
    if isinstance(node, ast.Attribute):
        return node.attr == "tmux_bin"
    if isinstance(node, ast.JoinedStr) and node.values:
        return names_tmux(node.values[0])
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.split(" ")[0] == "tmux"

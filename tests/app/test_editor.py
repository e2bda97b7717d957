from __future__ import annotations

from pathlib import Path

import pytest

from app.editor import editor_argv
from store.errors import UsageError

FILE = "/home/mara/a file.toml"


def test_visual_counts_before_editor_and_may_have_arguments() -> None:
    assert editor_argv({"VISUAL": "code --wait", "EDITOR": "vi"}, FILE) == ["code", "--wait", FILE]
    assert editor_argv({"VISUAL": " ", "EDITOR": "vi"}, FILE) == ["vi", FILE]


def test_a_line_is_told_to_editors_that_take_one() -> None:
    assert editor_argv({"EDITOR": "/usr/bin/nvim -u x"}, FILE, 12) == ["/usr/bin/nvim", "-u", "x", "+12", FILE]
    assert editor_argv({"EDITOR": "hx"}, FILE, 12) == ["hx", f"{FILE}:12"]
    assert editor_argv({"EDITOR": "unheard-of"}, FILE, 12) == ["unheard-of", FILE]
    assert editor_argv({"EDITOR": "nano"}, FILE) == ["nano", FILE]


def test_what_is_there_is_used_where_nobody_chose(tmp_path: Path) -> None:
    (tmp_path / "vim.basic").write_text("")
    (tmp_path / "vim.basic").chmod(0o755)
    (tmp_path / "editor").symlink_to(tmp_path / "vim.basic")
    assert editor_argv({"PATH": str(tmp_path)}, FILE, 3) == ["editor", "+3", FILE]
    with pytest.raises(UsageError, match="There is no editor"):
        editor_argv({"PATH": "/nonexistent"}, FILE)


def test_a_command_that_can_not_be_read_is_named() -> None:
    with pytest.raises(UsageError, match=r"\$EDITOR can't be read"):
        editor_argv({"EDITOR": "vi '"}, FILE)

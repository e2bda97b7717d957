from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from providers.catalog import SHIPPED
from providers.detection import detect
from providers.entries import read_entries

CLAUDE = read_entries(SHIPPED)["claude"]


def environ(tmp_path: Path, script: str) -> dict[str, str]:
    program = tmp_path / "claude"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)}


def test_a_version_is_held_against_the_range(tmp_path: Path) -> None:
    found = detect(CLAUDE, environ(tmp_path, "echo 2.1.332 '(Claude Code)'"))
    assert (found.program, found.version, found.fits, found.fault) == (str(tmp_path / "claude"), "2.1.332", True, "")
    assert not detect(CLAUDE, environ(tmp_path, "echo 1.0.0")).fits


def test_a_program_that_fails_or_names_none_says_why(tmp_path: Path) -> None:
    assert detect(CLAUDE, environ(tmp_path, "exit 3")).fault == "`claude --version` failed: exit code 3"
    assert detect(CLAUDE, environ(tmp_path, "echo hello")).fault == "`claude --version` names no version"
    assert detect(replace(CLAUDE, versions=""), environ(tmp_path, "echo hello")).fault == ""


def test_what_is_not_here_or_has_no_program_is_not_asked(tmp_path: Path) -> None:
    assert detect(CLAUDE, {"PATH": str(tmp_path)}).program is None
    assert detect(read_entries(SHIPPED)["shell"], {"PATH": str(tmp_path)}).program is None
    found = detect(replace(CLAUDE, installed_detection=()), environ(tmp_path, "exit 3"))
    assert (found.program, found.version, found.fault) == (str(tmp_path / "claude"), None, "")

"""The host-side programs as files: names that follow the content, and nothing but the standard library inside."""

from __future__ import annotations

import hashlib
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

from executor.wrapper import install, pam_exec, pam_signal


def test_names_follow_the_content() -> None:
    """PAM-WRAP-001: a host never runs the wrapper of another pam, because a changed one has another name."""
    for program in install.programs():
        digest = hashlib.sha256(program.content).hexdigest()[:12]
        assert program.name == f"{program.stem}-{digest}.py"
    assert [program.stem for program in install.programs()] == ["pam_exec", "pam_signal"]


def test_content_is_the_programs_as_they_stand() -> None:
    exec_, signal_ = install.programs()
    assert exec_.content == Path(pam_exec.__file__).read_bytes()
    assert signal_.content == Path(pam_signal.__file__).read_bytes()


@pytest.mark.parametrize("name", ["append", "ring", "stamp"])
def test_what_both_programs_do_they_do_alike(name: str) -> None:
    """Each is one file of its own, so the way into the spool stands in both; they may not drift apart."""
    assert inspect.getsource(getattr(pam_exec, name)) == inspect.getsource(getattr(pam_signal, name))


@pytest.mark.parametrize("program", install.programs(), ids=lambda program: program.stem)
def test_start_imports_nothing_slow(program: install.Program, tmp_path: Path) -> None:
    """json, subprocess, signal, typing and re would double the time that every agent and every hook pays."""
    file, spec = tmp_path / program.name, tmp_path / "spec.json"
    file.write_bytes(program.content)
    run = {"v": 1, "run": "a-run", "attempt": 1, "spool": str(tmp_path / "spool"), "hold_open_s": 0}
    spec.write_text(json.dumps(run | {"argv": ["/bin/sh", "-c", "exit 0"], "cwd": "/"}))
    words = [sys.executable, "-I", "-S", "-E", "-X", "importtime", str(file), str(spec)]
    ran = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=20)
    imported = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines() if line.startswith("import time:")}
    assert "fcntl" in imported
    assert imported.isdisjoint(
        {"json", "subprocess", "signal", "typing", "re", "enum", "argparse", "datetime", "ctypes"}
    )

"""The real claude CLI for tests: pinned, installed once from npm, and run where it reaches only the stub model."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PACKAGE = "@anthropic-ai/claude-code"
VERSION = "2.1.332"
MODEL = "claude-opus-5-5"
DUMMY_KEY = "sk-ant-api03-" + "dummy" * 16

REQUIRED = "PAM_REQUIRE_REAL_CLI"
"""Set in CI, where a CLI that cannot be installed is a failure and not a reason to skip."""

_CACHE = Path(__file__).parents[2] / ".real-cli"
_UNREACHABLE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH")


def install() -> Path:
    """The directory that holds the program ``claude``; installed there unless it already is.

    Skips the test, with the reason, where npm is missing or its registry cannot be reached.
    """
    prefix = _CACHE / f"claude-{VERSION}"
    with _one_at_a_time():
        if not prefix.exists():
            _install_into(prefix)
    programs = prefix / "node_modules" / ".bin"
    command, alone = [str(programs / "claude"), "--version"], {"PATH": "/usr/bin:/bin", "HOME": str(prefix)}
    said = subprocess.run(command, env=alone, capture_output=True, text=True, timeout=60, check=False)
    assert said.stdout.startswith(VERSION), f"{programs}/claude is not {VERSION}: {said.stdout}{said.stderr}"
    return programs


def scrubbed_environment(home: Path, programs: Path, stub_url: str) -> dict[str, str]:
    """An environment with nothing of the machine's: a home of its own, a dummy key, the stub as API and as proxy."""
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), stub_url)
    return {
        "PATH": f"{programs}:/usr/bin:/bin",
        "HOME": str(home),
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        "ANTHROPIC_BASE_URL": stub_url,
        "ANTHROPIC_API_KEY": DUMMY_KEY,
        **proxies,
        **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
    }


def answer_first_run_questions(home: Path, *directories: Path) -> None:
    """What an operator who has used claude in these directories has in their home."""
    home.mkdir(parents=True, exist_ok=True)
    answers = {
        "hasCompletedOnboarding": True,
        "projects": {str(directory.resolve()): {"hasTrustDialogAccepted": True} for directory in directories},
        "customApiKeyResponses": {"approved": [DUMMY_KEY[-20:]], "rejected": []},
    }
    (home / ".claude.json").write_text(json.dumps(answers))


def make_repository(directory: Path) -> Path:
    """A small git repository with one commit."""
    directory.mkdir(parents=True)
    (directory / "README.md").write_text("# A small repository\n")
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.invalid")
    for words in (("init", "--quiet"), ("add", "."), (*who, "commit", "--quiet", "--message", "Begin")):
        subprocess.run(["git", *words], cwd=directory, check=True, capture_output=True)
    return directory


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Test processes side by side install once."""
    _CACHE.mkdir(exist_ok=True)
    with (_CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _install_into(prefix: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        _skip("npm is not installed")
    unfinished = prefix.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    command = [str(npm), "install", "--prefix", str(unfinished), "--no-audit", "--no-fund", f"{PACKAGE}@{VERSION}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode and any(word in done.stderr for word in _UNREACHABLE):
        _skip("npm cannot reach its registry")
    assert done.returncode == 0, f"npm could not install {PACKAGE}@{VERSION}:\n{done.stderr}"
    unfinished.rename(prefix)


def _skip(reason: str) -> None:
    if os.environ.get(REQUIRED):
        pytest.fail(f"the real claude CLI is required here, but {reason}")
    pytest.skip(f"the real claude CLI cannot be installed: {reason}")

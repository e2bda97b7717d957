"""The real agent CLIs for tests: pinned, installed once from npm, and run where they reach only the stub model.

``python -m tests.support.real_clis [NAME…]`` installs them, all when none is named, into ``.real-cli/NAME-VERSION``.
What an operator has in their home is in ``tests/support/real_homes.py``.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.real_homes import DUMMY_KEY, MODELS, answer_first_run_questions

__all__ = [
    "CLIS",
    "MODELS",
    "REQUIRED",
    "answer_first_run_questions",
    "install",
    "make_repository",
    "scrubbed_environment",
]

REQUIRED = "PAM_REQUIRE_REAL_CLI"
"""Set in CI, where a CLI that cannot be installed is a failure and not a reason to skip."""

CHOSEN = "PAM_REAL_CLIS"
"""Names of those that are driven, by spaces; all when it is empty."""

NODE = "node@22"
"""Beside a CLI that does not run on an older one."""

_CACHE = Path(__file__).parents[2] / ".real-cli"
_UNREACHABLE = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH")


@dataclass(frozen=True, slots=True)
class RealCli:
    """One CLI: its npm package, and the variables that lead it to the stub and away from everything else."""

    package: str
    version: str
    beside: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    """``{url}`` stands for the stub's address."""


CLIS: Mapping[str, RealCli] = {
    "claude": RealCli(
        "@anthropic-ai/claude-code",
        "2.1.332",
        env={"ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": DUMMY_KEY},
    ),
    "codex": RealCli("@openai/codex", "0.171.0", env={"STUB_KEY": "dummy"}),
    "gemini": RealCli(
        "@google/gemini-cli",
        "0.61.0",
        env={"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": "{url}"},
    ),
    "opencode": RealCli(
        "opencode-ai",
        "1.18.33",
        env={"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
    ),
    "qwen": RealCli(
        "@qwen-code/qwen-code",
        "0.24.4",
        beside=(NODE,),
        env={"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": "{url}/v1", "OPENAI_MODEL": MODELS["qwen"]},
    ),
    "copilot": RealCli(
        "@github/copilot",
        "1.0.102",
        env={
            "COPILOT_PROVIDER_BASE_URL": "{url}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "dummy",
            "COPILOT_MODEL": MODELS["copilot"],
            "COPILOT_OFFLINE": "true",
        },
    ),
    "kimi": RealCli("@moonshot-ai/kimi-code", "2.1.0", beside=(NODE,), env={"KIMI_CODE_NO_AUTO_UPDATE": "1"}),
}


def install(name: str) -> Path:
    """The directory that holds the program ``name``; installed there unless it already is.

    Skips the test, with the reason, where npm is missing or its registry cannot be reached.
    """
    chosen = os.environ.get(CHOSEN, "").split()
    if chosen and name not in chosen:
        pytest.skip(f"only {', '.join(chosen)} are driven this time")
    programs = _programs(name)
    with _one_at_a_time():
        if not _prefix(name).exists():
            _install_into(name, _prefix(name))
    said = _version_line(name)
    assert CLIS[name].version in said, f"{programs / name} is not {CLIS[name].version}: {said}"
    return programs


def scrubbed_environment(name: str, home: Path, stub_url: str) -> dict[str, str]:
    """An environment with nothing of the machine's: a home of its own, a dummy key, the stub as API and as proxy."""
    proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), stub_url)
    return {
        "PATH": _path(name),
        "HOME": str(home),
        "SHELL": "/bin/sh",
        "LANG": "C.UTF-8",
        **{key: value.replace("{url}", stub_url) for key, value in CLIS[name].env.items()},
        **proxies,
        **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
    }


def make_repository(directory: Path) -> Path:
    """A small git repository with one commit."""
    directory.mkdir(parents=True)
    (directory / "README.md").write_text("# A small repository\n")
    who = ("-c", "user.name=Test", "-c", "user.email=test@example.invalid")
    for words in (("init", "--quiet"), ("add", "."), (*who, "commit", "--quiet", "--message", "Begin")):
        subprocess.run(["git", *words], cwd=directory, check=True, capture_output=True)
    return directory


def _prefix(name: str) -> Path:
    return _CACHE / f"{name}-{CLIS[name].version}"


def _programs(name: str) -> Path:
    return _prefix(name) / "node_modules" / ".bin"


def _path(name: str) -> str:
    """The CLI's own programs, the machine's node where it lies elsewhere, and the system's programs."""
    node = shutil.which("node")
    directories = [str(_programs(name)), *([str(Path(node).parent)] if node else []), "/usr/bin", "/bin"]
    return ":".join(dict.fromkeys(directories))


def _version_line(name: str) -> str:
    command, alone = [str(_programs(name) / name), "--version"], {"PATH": _path(name), "HOME": str(_prefix(name))}
    said = subprocess.run(command, env=alone, capture_output=True, text=True, timeout=60, check=False)
    return said.stdout + said.stderr


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Test processes side by side install once."""
    _CACHE.mkdir(exist_ok=True)
    with (_CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _install_into(name: str, prefix: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        _skip(name, "npm is not installed")
    cli = CLIS[name]
    packages = (f"{cli.package}@{cli.version}", *cli.beside)
    unfinished = prefix.with_name(f"{prefix.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    command = [str(npm), "install", "--prefix", str(unfinished), "--no-audit", "--no-fund", *packages]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode and any(word in done.stderr for word in _UNREACHABLE):
        _skip(name, "npm cannot reach its registry")
    assert done.returncode == 0, f"npm could not install {packages[0]}:\n{done.stderr}"
    unfinished.rename(prefix)


def _skip(name: str, reason: str) -> None:
    if os.environ.get(REQUIRED):
        pytest.fail(f"the real {name} CLI is required here, but {reason}")
    pytest.skip(f"the real {name} CLI cannot be installed: {reason}")


def main(names: list[str]) -> int:
    """Install what is named, all when nothing is; 2 when a name is unknown.

    Where a CLI cannot be installed it says so and goes on; with ``PAM_REQUIRE_REAL_CLI`` the exit code is then 1.
    """
    if unknown := sorted(set(names) - set(CLIS)):
        sys.stderr.write(f"no such CLI: {', '.join(unknown)}; there are {', '.join(CLIS)}\n")
        return 2
    missing = [name for name in names or CLIS if not _installed(name)]
    return 1 if missing and os.environ.get(REQUIRED) else 0


def _installed(name: str) -> bool:
    try:
        programs = install(name)
    except (pytest.skip.Exception, pytest.fail.Exception, AssertionError) as error:
        sys.stderr.write(f"{error}\n")
        return False
    sys.stdout.write(f"{name} {CLIS[name].version}: {programs / name}\n")
    return True


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

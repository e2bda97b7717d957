"""The command line as a fixture: in this process for shapes, as the real console script where the process counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from app.cli.main import root
from store.database import Store, open_store

PAM = Path(sys.executable).with_name("pam")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        """The error told as JSON."""
        assert list(self.json) == ["error"]
        assert list(self.json["error"]) == ["code", "message", "details"]
        return self.json["error"]


class Pam:
    """Calls pam in this process."""

    def __call__(self, *words: str, code: int = 0, stdin: str | None = None) -> Answer:
        """The answer of ``pam WORDS``, which must end with ``code``."""
        result = CliRunner().invoke(root, list(words), input=stdin)
        answer = Answer(result.exit_code, result.stdout, result.stderr)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert answer.code == code, answer
        return answer

    def json(self, *words: str, code: int = 0) -> Any:
        """The answer of ``pam WORDS --json``."""
        return self(*words, "--json", code=code).json

    def project(self, name: str = "Checkout service", *words: str) -> Any:
        """A new project."""
        return self.json("project", "add", name, *words)["project"]

    def task(self, title: str = "Fix the flaky auth tests", *words: str, project: str = "checkout-service") -> Any:
        """A new task."""
        return self.json("task", "add", title, "--project", project, *words)["task"]


@pytest.fixture
def home() -> Path:
    """The home that the calls use."""
    return Path(os.environ["PAM_HOME"])


@pytest.fixture
def pam() -> Pam:
    """pam in this process."""
    return Pam()


@pytest.fixture
def opened(home: Path) -> Callable[[], Any]:
    """The home's store, for a while in which no call is made: a process has one store at a time."""

    @contextmanager
    def open_for_a_while() -> Iterator[Store]:
        store = open_store(home / "pam.db")
        try:
            yield store
        finally:
            store.close()

    return open_for_a_while


@pytest.fixture
def script(home: Path) -> Callable[..., Answer]:
    """The console script, in a process of its own."""

    def call(*words: str, env: Mapping[str, str] | None = None, cwd: Path | None = None, timeout: float = 60) -> Answer:
        done = subprocess.run(
            [str(PAM), *words],
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, **(env or {})},
            cwd=cwd,
            timeout=timeout,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return call

"""What a command loads: a fresh interpreter tells."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.cli.conftest import Pam

LIST = """
import json, sys
from app.deferred import defer_unused, waiting
defer_unused()
from app.cli.main import run
code = run(sys.argv[1:])
sys.stderr.write(json.dumps([code, sorted(set(sys.modules) - set(waiting()))]))
"""

NEVER = {
    *("textual", "rich", "libtmux", "tomlkit", "watchfiles", "psutil", "asyncio", "platformdirs", "subprocess"),
    *("inspect", "socket", "shutil", "tempfile", "importlib.metadata", "logging.handlers", "tomllib", "difflib"),
}


def loaded_by(*words: str) -> set[str]:
    """Modules in an interpreter that has carried out ``pam WORDS``."""
    done = subprocess.run(
        [sys.executable, "-c", LIST, *words], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    code, modules = json.loads(done.stderr)
    assert code == 0
    return set(modules)


@pytest.mark.parametrize("words", [("task", "list", "--all"), ("task", "list", "--all", "--json"), ("project", "list")])
def test_a_listing_loads_nothing_heavy(pam: Pam, words: tuple[str, ...]) -> None:
    """Design §2: `pam task list` imports neither textual nor libtmux, and nothing else that costs and is not used."""
    pam.project()
    pam.task("Ääkköset")
    loaded = loaded_by(*words)
    assert {"peewee", "click"} <= loaded
    assert not NEVER & loaded
    assert not {name for name in loaded if name.startswith(("executor", "providers", "themes"))}


def test_only_the_noun_called_is_loaded(pam: Pam) -> None:
    pam("init")
    loaded = {name for name in loaded_by("host", "list") if name.startswith("app.cli.")}
    assert "app.cli.host" in loaded
    assert not loaded & {"app.cli.task", "app.cli.run", "app.cli.doctor", "app.cli.up"}

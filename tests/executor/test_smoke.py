"""A provider's program is started once against the stub model, and what came of it is told (PAM-PROV-011)."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import psutil
import pytest

from executor.settings import ExecutorSettings
from executor.smoke import Smoke, smoke
from providers.catalog import load
from tests.support.tmux_server import TmuxSandbox
from tests.support.waiting import until

pytestmark = pytest.mark.usefixtures("tmux_sandbox")

ENTRY = """
[asker]
title = "Asker"
bin = "{program}"
argv = ["{{bin}}", "{mode}", ["--", "{{prompt}}"]]
prompt = "{route}"
tui_type = "line_oriented"
keys = ["ASKER_KEY"]
[asker.gateway.env]
ASKER_URL = "{{gateway_url}}"
ASKER_KEY = "{{gateway_key}}"
[asker.smoke.files]
".asker/settings" = "trusted {{cwd}}"
"""

PROGRAM = """\
#!{python}
import json, os, sys, urllib.request
home = os.environ["HOME"]
print("HOME", home, "CWD", os.getcwd(), flush=True)
mode, prompt = sys.argv[1], sys.argv[-1]
settings = open(home + "/.asker/settings").read()
assert settings == "trusted " + os.getcwd(), settings
assert "LEFT_OVER_KEY" not in os.environ
if mode == "trust":
    print("Do you trust this folder? [y/N]", flush=True)
    sys.stdin.readline()
if mode == "end":
    sys.exit("cannot start: no such account")
if mode == "paste":
    print("ready> ", end="", flush=True)
    prompt = sys.stdin.readline().strip().removeprefix("\\x1b[200~").removesuffix("\\x1b[201~")
body = {{"model": "m", "max_tokens": 9, "messages": [{{"role": "user", "content": prompt}}]}}
request = urllib.request.Request(os.environ["ASKER_URL"] + "/v1/messages", json.dumps(body).encode())
request.add_header("x-api-key", os.environ["ASKER_KEY"])
request.add_header("content-type", "application/json")
print(json.load(urllib.request.urlopen(request))["content"][0]["text"], flush=True)
sys.stdin.read()
"""


def tried(tmp_path: Path, mode: str, patience_s: float = 20, **environ: str) -> Smoke:
    """What came of a program that behaves as ``mode`` says."""
    program = tmp_path / "asker"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    route = "paste" if mode == "paste" else "argv"
    text = ENTRY.format(program=program, mode=mode, route=route)
    if route == "paste":
        text = text.replace(', ["--", "{prompt}"]', "")
    (tmp_path / "providers.toml").write_text(text)
    provider = load(tmp_path).get("asker")
    given = {"PATH": os.environ["PATH"], "HOME": "/operators", **environ}
    return asyncio.run(smoke(provider, ExecutorSettings(), given, patience_s=patience_s))


@pytest.mark.parametrize("mode", ["argv", "paste"])
def test_a_program_that_answers_is_fine(tmp_path: Path, mode: str) -> None:
    """In a home of its own, with nothing of the operator's."""
    came = tried(tmp_path, mode, LEFT_OVER_KEY="operators")
    assert came.answered, came
    assert (came.asked, came.ended, came.hooks) == (True, False, False)
    assert "/operators" not in " ".join(came.screen)


def test_a_program_that_asks_first_is_told_with_its_screen(tmp_path: Path) -> None:
    came = tried(tmp_path, "trust", patience_s=2)
    assert (came.answered, came.asked, came.ended) == (False, False, False)
    assert came.screen[-1].startswith("Do you trust this folder?")
    assert 2 <= came.took_s < 15


def test_a_program_that_ends_is_not_waited_for(tmp_path: Path) -> None:
    came = tried(tmp_path, "end", patience_s=60)
    assert (came.answered, came.ended) == (False, True)
    assert any("no such account" in line for line in came.screen)
    assert came.took_s < 30


def test_nothing_is_left(tmp_path: Path, tmux_sandbox: TmuxSandbox) -> None:
    came = tried(tmp_path, "trust", patience_s=1)
    place = Path(came.screen[0].split()[1]).parent
    assert place.name.startswith("pam-smoke-")
    assert not place.exists()
    assert not list(tmux_sandbox.directory.rglob("pam-smoke-*"))
    until(lambda: not _lines(place), 5, lambda: _lines(place))


def _lines(place: Path) -> list[str]:
    """Command lines of processes that live and name something in it."""
    lines = (" ".join(process.info["cmdline"] or []) for process in psutil.process_iter(["cmdline"]))
    return [line for line in lines if str(place) in line]


def test_who_can_be_led_to_a_stub(tmp_path: Path) -> None:
    catalog = load(tmp_path)
    assert catalog.get("claude").can_smoke
    assert catalog.get("codex").can_smoke
    assert not catalog.get("demo").can_smoke

"""Recordings of real agent CLIs, made anew: ``python -m tests.support.record_cli [NAME…]``, all when none is named.

Each CLI is installed as ``make real-cli`` does, and driven in a tmux of its own against the stub model: it starts, is
given a prompt, writes its answer while its terminal is resized, asks for a permission, and leaves. What it writes goes
to ``tests/executor/terminal/recordings/NAME.cast.gz``, with its version as the title; ``zcat NAME.cast.gz | asciinema
play -`` shows it. Whatever could tell of the machine or of its user is kept away, and a recording that still does is
refused.
"""

from __future__ import annotations

import getpass
import gzip
import json
import os
import re
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from executor.tmux import oneshot
from providers.stub import StubModel
from providers.stub.script import Script
from tests.support import real_clis
from tests.support.real_agent import WAYS
from tests.support.real_homes import DUMMY_KEY
from tests.support.tmux_server import TmuxSandbox, make_sandbox
from tests.support.waiting import until

FOLDER = Path(__file__).parents[1] / "executor" / "terminal" / "recordings"
PLACE = Path("/tmp/w")
"""Where the CLI is at home and at work: it stands on its screen. It must not be there before."""
SIZE, SMALLER, OTHER = (100, 32), (72, 24), (110, 28)
PATIENCE_S = 90.0
STILL_S = 1.5
SESSION = "recording"

QUESTION = """\
Why does the login retry? [[slow 4]]

Three things in `auth/login.py` puzzle me, 再試行 🙂:
- how often it does
- how long it waits
- what happens then"""
ANSWER = """\
# Retries

The login **retries** three times, see `auth/login.py`:

1. wait, then ask again
2. give up: *you are told why*

| step | wait | 状態 |
| ---- | ---- | ---- |
| one  | 1 s  | 待つ 🙂 |
| two  | 4 s  | やめる 🚀 |

```python
def wait(step: int) -> float:
    return 4.0 ** step  # seconds
```

> Done, 終わり ✓ THE-END
"""
DONE = "It is there."


@dataclass(frozen=True, slots=True)
class Way:
    """How a CLI is started for a recording, and what it shows once it reads what is typed."""

    argv: tuple[str, ...]
    ready: str
    env: Mapping[str, str] = field(default_factory=dict)


RECORDED: Mapping[str, Way] = {
    "claude": Way(("--permission-mode", "manual"), "? for shortcuts", {"DISABLE_AUTOUPDATER": "1"}),
    "codex": Way(
        ("--no-daemon", "-c", "check_for_update_on_startup=false", "-a", "on-request", "-s", "workspace-write"), "›"
    ),
    "gemini": Way(
        ("--skip-trust", "--approval-mode", "default"), "Type your message", {"GEMINI_CLI_NO_RELAUNCH": "true"}
    ),
    "opencode": Way((), "Ask anything", {"OPENCODE_PERMISSION": '{"bash":"ask"}'}),
}


def record(name: str) -> Path:
    """Record the CLI ``name``; where it was written to. Raises AssertionError when the CLI does not do as expected."""
    programs = real_clis.install(name)
    with _place() as work, _sandbox() as sandbox, _model() as stub:
        real_clis.answer_first_run_questions(name, PLACE, work, stub_url=stub.url)
        spec = {
            "title": f"{name} {real_clis.CLIS[name].version}",
            "argv": [str(programs / name), "--model", real_clis.MODELS[name], *RECORDED[name].argv],
            "cwd": str(work),
            "env": {**real_clis.scrubbed_environment(name, PLACE, stub.url), **RECORDED[name].env},
            "path": str(sandbox.home / "cast"),
        }
        terminal = _Terminal(sandbox)
        terminal.start(spec)
        _drive(name, terminal)
        cast = (sandbox.home / "cast").read_text("utf-8")
    assert not (told := _private(cast)), f"the recording of {name} tells of this machine: {told}"
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.cast.gz"
    path.write_bytes(gzip.compress(cast.encode(), 9, mtime=0))
    return path


def _drive(name: str, terminal: _Terminal) -> None:
    """From the first screen of the CLI to its end."""
    ways = WAYS[name]
    terminal.until_shows(RECORDED[name].ready)
    terminal.until_still()
    terminal.tell(QUESTION)
    terminal.until_shows("give up")
    terminal.resize(SMALLER)
    terminal.until_shows("THE-END")
    terminal.until_still()
    terminal.resize(OTHER)
    terminal.until_still()
    terminal.tell("[[permit touch retries.md]]")
    terminal.until_shows(ways.asks)
    terminal.until_still()
    terminal.press(*ways.yes)
    terminal.until_shows(DONE)
    terminal.until_still()
    terminal.tell(ways.leave)
    terminal.until_ended()


@dataclass(frozen=True, slots=True)
class _Terminal:
    """A pane of tmux's with a tapped CLI in it."""

    sandbox: TmuxSandbox

    def start(self, spec: Mapping[str, object]) -> None:
        """Run the CLI of a spec."""
        (self.sandbox.home / "spec").write_text(json.dumps(spec))
        tap = [sys.executable, str(Path(__file__).with_name("tap.py")), str(self.sandbox.home / "spec")]
        size = ("-x", str(SIZE[0]), "-y", str(SIZE[1]))
        self.sandbox.tmux("new-session", "-d", "-s", SESSION, *size, "--", *tap)

    def tell(self, text: str) -> None:
        """Paste a prompt as a person does: Enter once the CLI has taken it up."""
        before = self.screen()
        self.sandbox.tmux("set-buffer", "-b", "prompt", text)
        self.sandbox.tmux("paste-buffer", "-p", "-d", "-b", "prompt", "-t", SESSION)
        self.until(lambda: self.screen() != before)
        self.until_still()
        self.press("Enter")

    def press(self, *keys: str) -> None:
        """Press keys."""
        self.sandbox.tmux("send-keys", "-t", SESSION, *keys)

    def resize(self, size: tuple[int, int]) -> None:
        """Give it another size, in columns and rows."""
        self.sandbox.tmux("resize-window", "-t", SESSION, "-x", str(size[0]), "-y", str(size[1]))

    def screen(self) -> str:
        """The text of it."""
        return self.sandbox.tmux("capture-pane", "-p", "-t", SESSION)

    def until(self, holds: Callable[[], object]) -> None:
        """Until something holds; what is on the screen otherwise."""
        until(holds, PATIENCE_S, self.screen)

    def until_shows(self, text: str) -> None:
        """Until a text is on the screen."""
        self.until(lambda: text in self.screen())

    def until_still(self) -> None:
        """Until the CLI has come to rest: nothing has moved for a while."""
        seen, since = "", time.monotonic()

        def rests() -> bool:
            nonlocal seen, since
            if (now := self.screen()) != seen:
                seen, since = now, time.monotonic()
            return time.monotonic() - since >= STILL_S

        self.until(rests)

    def until_ended(self) -> None:
        """Until the CLI is gone."""
        self.until(lambda: self.sandbox.tmux("display-message", "-p", "-t", SESSION, "#{pane_dead}") == "1")


@contextmanager
def _place() -> Iterator[Path]:
    """A home that holds a small repository, for as long as the recording takes."""
    PLACE.mkdir(mode=0o700)
    try:
        yield real_clis.make_repository(PLACE / "shop")
    finally:
        shutil.rmtree(PLACE, ignore_errors=True)


@contextmanager
def _sandbox() -> Iterator[TmuxSandbox]:
    """A tmux server as pam's own, on a socket of its own."""
    sandbox = make_sandbox(PLACE.with_name(f"{PLACE.name}-{os.getpid()}"))
    before = os.environ.get("TMUX_TMPDIR")
    os.environ["TMUX_TMPDIR"] = str(sandbox.directory)
    try:
        oneshot.ensure_server(sandbox.settings, known=None, may_live=lambda: False)
        yield sandbox
    finally:
        sandbox.end()
        shutil.rmtree(sandbox.home, ignore_errors=True)
        os.environ.pop("TMUX_TMPDIR")
        if before is not None:
            os.environ["TMUX_TMPDIR"] = before


@contextmanager
def _model() -> Iterator[StubModel]:
    """A stub model whose answers do not stand in the prompt, so that they can be waited for."""
    answer = property(lambda script: ANSWER if QUESTION[:20] in script.prompt else DONE)
    with patch.object(Script, "answer", answer), StubModel() as stub:
        yield stub


def _private(cast: str) -> list[str]:
    """What of the machine or its user stands in a recording."""
    words = (socket.gethostname(), getpass.getuser(), Path.home(), real_clis.__file__.rpartition("/tests/")[0])
    secret = {re.escape(str(word)) for word in (*words, DUMMY_KEY, "127.0.0.1")}
    return sorted({found[0] for word in secret for found in re.finditer(rf"(?<![\w-]){word}(?![\w-])", cast)})


def main(names: list[str]) -> int:
    """Record what is named, all when nothing is; 2 when a name is unknown."""
    if unknown := sorted(set(names) - set(RECORDED)):
        sys.stderr.write(f"no such CLI: {', '.join(unknown)}; there are {', '.join(RECORDED)}\n")
        return 2
    for name in names or RECORDED:
        path = record(name)
        sys.stdout.write(f"{path} {path.stat().st_size} bytes\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""The console script as a process: strange homes, strange locales, strange repositories, impatient readers."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import PAM, Answer, Pam

Script = Callable[..., Answer]

AS_NOBODY = """
import os, sys
from app.cli.main import run
import app.first_start, app.cli.project, playhouse.migrations, store.projects, store.migrate
store.migrate.known_version()
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
sys.exit(run(sys.argv[1:]))
"""


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that everybody may enter; pytest's own are the owner's alone."""
    directory = Path(tempfile.mkdtemp(prefix="pam-cli-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


def test_a_home_with_spaces_and_letters_of_the_world(script: Script, tmp_path: Path) -> None:
    """Also under LANG=C, where Python itself sees to UTF-8."""
    home = tmp_path / "my höme ☃"
    env = {"PAM_HOME": str(home), "LANG": "C", "LC_ALL": "C"}
    assert script("project", "add", "Süßes", "--slug", "s", env=env).code == 0
    assert script("task", "add", "漢字 — ok", "--project", "s", env=env).code == 0
    listed = script("task", "list", "--project", "s", "--json", env=env)
    assert [task["title"] for task in listed.json["tasks"]] == ["漢字 — ok"]
    assert "漢字 — ok" in script("task", "list", "--all", env=env).out
    assert str(home) in script("config", "path", env=env).out
    board = script("task", "board", "s", env=env)
    assert (board.code, board.err) == (0, "")


def test_a_stdout_that_is_not_utf8_gets_what_it_can_take(script: Script) -> None:
    """JSON stays JSON; text shows the rest as escapes."""
    env = {"PYTHONIOENCODING": "ascii"}
    script("project", "add", "Süßes", "--slug", "s", env=env)
    listed = script("project", "list", "--json", env=env)
    assert listed.out.isascii()
    assert listed.json["projects"][0]["name"] == "Süßes"
    assert "S\\xfc\\xdfes" in script("project", "list", env=env).out


def test_an_argument_that_is_not_utf8_is_refused() -> None:
    done = subprocess.run([os.fsencode(PAM), b"project", b"add", b"bad \xff"], capture_output=True, check=False)
    assert done.returncode == 2
    assert b"UTF-8" in done.stderr


def test_a_home_that_cannot_be_written(open_directory: Path) -> None:
    """Exit 7, told what to do; nothing is made."""
    home = open_directory / "home"
    home.mkdir(mode=0o755)
    for words in (("init",), ("project", "list"), ("project", "add", "Never")):
        argv = [sys.executable, "-c", AS_NOBODY, "--home", str(home), *words, "--json"]
        if os.geteuid() != 0:
            home.chmod(0o555)
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert done.returncode == 7, done
        error = json.loads(done.stdout)["error"]
        assert error["code"] == "store_unavailable"
        assert "--home" in done.stderr
    assert list(home.iterdir()) == []


def test_a_home_below_a_file(script: Script, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    answer = script("init", "--home", str(tmp_path / "file" / "home"), "--json")
    assert (answer.code, answer.error["code"]) == (7, "store_unavailable")


def test_the_repository_around_cannot_shadow_pam(script: Script, tmp_path: Path) -> None:
    """Design §2: agents call pam from repositories with an `app` and a `store` of their own, PYTHONPATH and all."""
    for package in ("app", "store", "screens", "executor", "providers", "themes"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("raise SystemExit('hijacked')\n")
    (tmp_path / "click.py").write_text("raise SystemExit('hijacked')\n")
    for path in (str(tmp_path), f":{tmp_path}", ".", ""):
        answer = script("project", "list", "--json", env={"PYTHONPATH": path}, cwd=tmp_path)
        assert (answer.code, answer.json) == (0, {"projects": []}), path


def test_agents_still_see_their_pythonpath(script: Script, tmp_path: Path) -> None:
    """The launcher cleans its own path, not the environment that runs inherit."""
    code = "import os, pam_launch; pam_launch.drop_pythonpath(); print(os.environ['PYTHONPATH'])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.stdout.strip() == str(tmp_path)


def test_a_reader_that_leaves_early_is_no_error(pam: Pam, opened: Callable[[], Any]) -> None:
    """`pam task list | head -1` says nothing on stderr."""
    from store import items

    project = pam.project()
    with opened() as store:
        for number in range(1000):
            items.create(store, project["id"], f"Task {number} " + "x" * 100, actor="operator")
    with subprocess.Popen(
        [str(PAM), "task", "list", "--all"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as listing:
        assert listing.stdout is not None
        assert listing.stderr is not None
        assert listing.stdout.readline().startswith("ID")
        listing.stdout.close()
        assert listing.stderr.read() == ""
        assert listing.wait(20) == 0


def test_an_interrupt_is_quiet(pam: Pam) -> None:
    """130, and no traceback."""
    pam("init")
    with subprocess.Popen(
        [str(PAM), "events", "tail", "--after", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as tail:
        pam.project()
        assert tail.stdout is not None
        assert "project.created" in tail.stdout.readline()
        tail.send_signal(signal.SIGINT)
        assert tail.communicate(timeout=20)[1] == ""
        assert tail.returncode == 130


def test_everything_in_the_home_is_private(script: Script, home: Path) -> None:
    """Design §3, whatever the umask: directories 0700, files 0600."""
    before = os.umask(0)
    try:
        script("project", "add", "A")
    finally:
        os.umask(before)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    for path in home.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_completion(script: Script) -> None:
    """Design §7: the shell completes commands and flags."""
    env = {"_PAM_COMPLETE": "bash_complete", "COMP_WORDS": "pam run st", "COMP_CWORD": "2"}
    assert script(env=env).out.split() == ["plain,start", "plain,stop"]
    env = {"_PAM_COMPLETE": "bash_complete", "COMP_WORDS": "pam task list --st", "COMP_CWORD": "3"}
    assert "--status" in script(env=env).out
    assert "_PAM_COMPLETE=bash_complete" in script(env={"_PAM_COMPLETE": "bash_source"}).out


def test_ten_processes_at_once(pam: Pam) -> None:
    """Design §9 in small: every add becomes a row and an event, and none fails."""
    pam.project()
    line = 'for n in 1 2 3; do "$0" task add "$1 $n" --project checkout-service || exit 1; done'
    adders = [
        subprocess.Popen(["sh", "-c", line, str(PAM), f"P{number}"], stdout=subprocess.DEVNULL) for number in range(10)
    ]
    assert [adder.wait(60) for adder in adders] == [0] * 10
    assert len(pam.json("task", "list", "--all")["tasks"]) == 30
    assert len(pam.json("events", "list", "--topic", "work_item.created", "--limit", "100")["events"]) == 30


def test_a_full_disk_is_told_and_loses_nothing(pam: Pam, home: Path) -> None:
    """Exit 7; what was answered before stands. A limit on the size of files stands in for the disk."""
    pam.project()
    limit = (home / "pam.db").stat().st_size + 100_000

    def small() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    added = 0
    for _ in range(20):
        argv = [str(PAM), "task", "add", "T", "--project", "checkout-service", "--json", "--description", "x" * 30_000]
        done = subprocess.run(argv, capture_output=True, text=True, preexec_fn=small, check=False)
        if done.returncode:
            break
        added += 1
    assert done.returncode == 7
    assert json.loads(done.stdout)["error"]["code"] == "store_unavailable"
    assert "Nothing was written" in done.stderr
    assert len(pam.json("task", "list", "--all")["tasks"]) == added > 0

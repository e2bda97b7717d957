"""What the operator is told when the database cannot be used; never is anything half written."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from store import items, projects
from store.database import Store, open_store
from store.errors import StoreUnavailable
from tests.store.world import dump, worker

AS_ROOT = os.geteuid() == 0

USE_AS_NOBODY = """
import os, sys
from pathlib import Path
import playhouse.migrations  # while it can still be read
from store import migrate, projects
from store.database import open_store
from store.errors import StoreUnavailable
migrate.known_version()
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    store = open_store(Path(sys.argv[1]))
    projects.add(store, "Never", actor="operator")
except StoreUnavailable as error:
    print(error.code, error.exit_code, error)
else:
    print("it was written")
"""


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """A directory that everybody may enter; pytest's own are the owner's alone."""
    directory = Path(tempfile.mkdtemp(prefix="pam-store-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MB."""
    if not sys.platform.startswith("linux") or not AS_ROOT:
        pytest.skip("only root on Linux may mount a file system; the limited database stands in for it")
    directory = tmp_path / "disk"
    directory.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(directory)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"this machine lets nobody mount: {mounted.stderr.strip()}")
    yield directory
    subprocess.run(["umount", "-l", str(directory)], check=True)


def _fill(store: Store) -> StoreUnavailable:
    """Write items until the disk is full."""
    project = projects.add(store, "Apollo", actor="operator")
    with pytest.raises(StoreUnavailable) as refused:
        for number in range(10_000):
            items.create(store, project.id, f"Item {number}", description="x" * 8000, actor="operator")
    return refused.value


def test_full_disk_is_named_and_nothing_is_half_written(small_disk: Path) -> None:
    """Issue 2: a full disk is told as such, with what to do; each item there has its event."""
    store = open_store(small_disk / "pam.db")
    error = _fill(store)
    assert "disk is full" in str(error) and "free some space" in str(error)
    _check_whole(store)
    store.close()


def test_full_database_is_named_and_nothing_is_half_written(store: Store) -> None:
    """The same without a disk: the database is given a limit of pages."""
    store._database.pragma("max_page_count", int(store._database.pragma("page_count")) + 80)
    error = _fill(store)
    assert (error.code, error.exit_code) == ("store_unavailable", 7)
    assert "disk is full" in str(error) and "Nothing was written" in str(error)
    _check_whole(store)
    before = dump(store)
    with pytest.raises(StoreUnavailable):
        items.create(store, projects.list_all(store)[0].id, "More", description="x" * 20_000, actor="operator")
    assert dump(store) == before
    store._database.pragma("max_page_count", 10_000)
    assert items.create(store, projects.list_all(store)[0].id, "There is room again", actor="operator")


def _check_whole(store: Store) -> None:
    tables = dump(store)
    created = [row for row in tables["events"] if row[1] == "work_item.created"]
    assert len(tables["work_items"]) == len(created) > 10


def test_full_disk_at_the_first_start(tmp_path: Path, small_disk: Path) -> None:
    """A home on a full disk: no traceback, and once there is room the very same home opens."""
    ballast = small_disk / "ballast"
    with ballast.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(b"x" * 4096)
    with pytest.raises(StoreUnavailable):
        open_store(small_disk / "home" / "pam.db")
    ballast.unlink()
    store = open_store(small_disk / "home" / "pam.db")
    assert projects.list_all(store) == []
    store.close()


def test_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "pam.db"
    path.write_bytes(b"Dear diary, today I was mistaken for a database. " * 50)
    before = path.read_bytes()
    with pytest.raises(StoreUnavailable, match=r"damaged or not a pam database.*Move it away") as refused:
        open_store(path)
    assert refused.value.details["path"] == str(path)
    assert path.read_bytes() == before


def test_home_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("no directory")
    with pytest.raises(StoreUnavailable, match="choose another home with --home"):
        open_store(tmp_path / "home" / "pam.db")


@pytest.mark.parametrize("what", ["directory", "file", "empty home"])
def test_read_only_home_as_an_ordinary_user(open_directory: Path, what: str) -> None:
    """Issue 2: a read-only home is told with what to do."""
    path = open_directory / "pam.db"
    if what != "empty home":
        open_store(path).close()
        path.chmod(0o444 if what == "file" else 0o666)
    open_directory.chmod(0o777 if what == "file" else 0o555)
    before = path.read_bytes() if path.exists() else None
    output, errors = worker(USE_AS_NOBODY, path).communicate(timeout=30)
    assert not errors
    assert output.startswith("store_unavailable 7 ")
    assert "writable" in output and "--home" in output
    assert (path.read_bytes() if path.exists() else None) == before


@pytest.mark.skipif(not AS_ROOT or not shutil.which("chattr"), reason="only root may make a file immutable")
def test_immutable_file_even_for_root(tmp_path: Path) -> None:
    path = tmp_path / "pam.db"
    open_store(path).close()
    with ExitStack() as undo:
        if subprocess.run(["chattr", "+i", str(path)], capture_output=True, check=False).returncode:
            pytest.skip("this file system knows no immutable files")
        undo.callback(subprocess.run, ["chattr", "-i", str(path)], check=True)
        with pytest.raises(StoreUnavailable, match=r"Operation not permitted.*--home"):
            open_store(path)


def test_read_only_file_system(small_disk: Path) -> None:
    """Reading needs a log beside the file, so a home must be writable; saying so is better than half a start."""
    open_store(small_disk / "pam.db").close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(StoreUnavailable, match=r"Read-only file system.*--home"):
        open_store(small_disk / "pam.db")


def test_database_that_turns_read_only_while_open(store: Store) -> None:
    project = projects.add(store, "Apollo", actor="operator")
    store._database.pragma("query_only", 1)
    before = dump(store)
    with pytest.raises(StoreUnavailable, match=r"read-only.*Nothing was written"):
        items.create(store, project.id, "Never", actor="operator")
    store._database.pragma("query_only", 0)
    assert dump(store) == before


def test_lock_that_is_never_given_up(file_store: Store) -> None:
    """Another process that hangs in the middle of a write: told after the wait, nothing written."""
    projects.add(file_store, "Apollo", actor="operator")
    holder = worker(
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN IMMEDIATE');"
        "print('held', flush=True); sys.stdin.read()",
        file_store.path,
    )
    assert holder.stdout is not None and holder.stdout.readline() == "held\n"
    try:
        file_store._database.pragma("busy_timeout", 50)
        before = dump(file_store)
        with pytest.raises(StoreUnavailable, match="another process holds its write lock"):
            projects.add(file_store, "Never", actor="operator")
        assert dump(file_store) == before, "reading goes on"
    finally:
        holder.communicate(timeout=10)
    assert projects.add(file_store, "Gemini", actor="operator").slug == "gemini"


def test_writer_killed_in_mid_transaction_leaves_nothing(file_store: Store) -> None:
    """PAM-TEST-007, the store's part: rows without events, or events without rows, are never seen."""
    project = projects.add(file_store, "Apollo", actor="operator")
    before = dump(file_store)
    victim = worker(
        """
import sys
from pathlib import Path
from store import items
from store.database import open_store
store = open_store(Path(sys.argv[1]))
with store.write("operator"):
    items.create(store, sys.argv[2], "Half", actor="operator")
    print("half", flush=True)
    sys.stdin.read()
""",
        file_store.path,
        project.id,
    )
    assert victim.stdout is not None and victim.stdout.readline() == "half\n"
    victim.send_signal(signal.SIGKILL)
    victim.communicate(timeout=10)
    assert dump(file_store) == before
    assert items.create(file_store, project.id, "Whole", actor="operator")

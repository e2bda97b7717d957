"""Bells wake those who wait for another process, and never hold up or fail the one that rings."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from store.bells import Bell, ring_all

FAR_S = 20.0
ROOT = Path(__file__).parents[2]


@pytest.fixture
def bells(tmp_path: Path) -> Path:
    """Where bells hang."""
    path = tmp_path / "bells"
    path.mkdir()
    return path


def test_a_bell_is_heard_once_however_often_it_rang(bells: Path) -> None:
    bell = Bell.among(bells)
    for _ in range(100_000):  # more than a pipe holds
        bell.ring()
    ring_all(bells)
    assert bell.wait(FAR_S)
    assert not bell.wait(0)
    bell.close()


def test_every_bell_of_a_directory_rings(bells: Path) -> None:
    three = [Bell.among(bells) for _ in range(3)]
    ring_all(bells)
    assert all(bell.wait(FAR_S) for bell in three)
    for bell in three:
        bell.close()
    assert list(bells.iterdir()) == []


def test_another_process_rings(bells: Path) -> None:
    bell = Bell.among(bells)
    code = "import sys; from pathlib import Path; from store.bells import ring_all; ring_all(Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(bells)], check=True, cwd=ROOT)
    assert bell.wait(FAR_S)
    bell.close()


def test_the_bell_of_a_process_that_was_killed_is_removed(bells: Path) -> None:
    os.mkfifo(bells / "4711-dead")
    ring_all(bells)
    assert list(bells.iterdir()) == []


def test_a_bell_on_a_path_replaces_the_one_that_was_left_there(bells: Path) -> None:
    path = bells / "made" / "bell"
    Bell(path)  # of a process that ends without a word
    bell = Bell(path)
    ring_all(path.parent)
    assert bell.wait(FAR_S)
    bell.close()
    assert not path.exists()


def test_without_a_directory_for_pipes_a_bell_rings_in_its_own_process(bells: Path) -> None:
    file = bells / "a file"
    file.touch()
    for bell in (Bell.among(None), Bell.among(file)):
        assert bell.path is None
        threading.Timer(0, bell.ring).start()
        assert bell.wait(FAR_S)
        bell.close()


def test_a_bell_may_be_rung_after_it_was_taken_down(bells: Path) -> None:
    bell = Bell.among(bells)
    bell.close()
    bell.close()
    bell.ring()


def test_a_directory_that_is_not_there_rings_nothing(bells: Path) -> None:
    ring_all(bells / "none")
    assert not (bells / "none").exists()


def test_what_is_no_pipe_is_left_alone(bells: Path) -> None:
    note = bells / "note"
    note.touch()
    ring_all(bells)
    assert note.read_bytes() == b""

"""Control clients never outlive their owners."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from executor.processes import ProcessId, identify
from executor.tmux.client_records import ClientRecords


@pytest.fixture
def client() -> Iterator[subprocess.Popen[bytes]]:
    """Some process that stands for a control client."""
    with subprocess.Popen(["sleep", "1000"]) as process:
        yield process
        process.kill()


def record(directory: Path, client: int, owner: ProcessId) -> Path:
    """What the pam process ``owner`` would have left behind."""
    process = identify(client)
    assert process is not None
    directory.mkdir(exist_ok=True)
    path = directory / f"{process.pid}-{process.started}.{owner.pid}-{owner.started}"
    path.touch()
    return path


def test_a_client_whose_owner_is_dead_is_ended(tmp_path: Path, client: subprocess.Popen[bytes]) -> None:
    """FR-31: swept at the next start."""
    path = record(tmp_path / "clients", client.pid, ProcessId(2**22 + 1, 1))
    assert ClientRecords(tmp_path / "clients").sweep() == [client.pid]
    assert client.wait(5) == -9
    assert not path.exists()


def test_a_client_of_a_living_pam_is_left_alone(tmp_path: Path, client: subprocess.Popen[bytes]) -> None:
    """Two pam processes share the records: a viewer beside the executor keeps its client."""
    records = ClientRecords(tmp_path / "clients")
    records.add(client.pid)
    assert records.sweep() == []
    assert client.poll() is None
    assert len(list((tmp_path / "clients").iterdir())) == 1
    records.remove(client.pid)
    assert list((tmp_path / "clients").iterdir()) == []


def test_a_reused_pid_is_never_ended(tmp_path: Path, client: subprocess.Popen[bytes]) -> None:
    """A pid counts only together with its start time."""
    directory = tmp_path / "clients"
    directory.mkdir()
    (directory / f"{client.pid}-1.{2**22 + 1}-1").touch()
    assert ClientRecords(directory).sweep() == []
    assert client.poll() is None


def test_rubbish_among_the_records_is_passed_over(tmp_path: Path) -> None:
    """FR-23: one bad record costs only itself."""
    directory = tmp_path / "clients"
    directory.mkdir()
    for name in ("x.y", "1-2.", ".", "12.34", f"{os.getpid()}-x.1-1"):
        if name != ".":
            (directory / name).touch()
    assert ClientRecords(directory).sweep() == []
    assert ClientRecords(tmp_path / "none").sweep() == []

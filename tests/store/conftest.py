"""Fixtures of the store's tests: each runs on a file and in memory (PAM-STORE-005, 006, PAM-TEST-004)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from store import hosts, items, projects
from store.database import Store, open_store
from store.records import Host, Item, Project, Run
from tests.store.world import TurnedClock, World


@pytest.fixture
def clock() -> TurnedClock:
    """The time of the store under test."""
    return TurnedClock()


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty database to copy; making each anew would double the time of the suite."""
    path = tmp_path_factory.mktemp("migrated") / "pam.db"
    open_store(path).close()
    return path


@pytest.fixture
def database(migrated: Path, tmp_path: Path) -> Path:
    """The path of an empty database of this test."""
    (tmp_path / "home").mkdir(mode=0o700)
    return Path(shutil.copy2(migrated, tmp_path / "home" / "pam.db"))


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, clock: TurnedClock) -> Iterator[Store]:
    """An empty store; each test that takes it runs on both kinds."""
    path = request.getfixturevalue("database") if request.param == "file" else None
    opened = open_store(path, clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def file_store(database: Path, clock: TurnedClock) -> Iterator[Store]:
    """An empty store in a file, for tests that need other processes, threads or bytes on disk."""
    opened = open_store(database, clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def project(store: Store) -> Project:
    """An active project."""
    return projects.add(store, "Apollo", actor="operator")


@pytest.fixture
def task(store: Store, project: Project) -> Item:
    """A task at the root of the project."""
    return items.create(store, project.id, "Land on the moon", actor="operator")


@pytest.fixture
def host(store: Store) -> Host:
    """The local host, online."""
    hosts.ensure_local(store, actor="executor")
    return hosts.heartbeat(store, "local", "instance-1", actor="executor")


@pytest.fixture
def world(store: Store, clock: TurnedClock, project: Project, task: Item, host: Host) -> World:
    """All of it together."""
    return World(store, clock, project, task, host)


@pytest.fixture
def running(world: World) -> Run:
    """A run whose agent is at work."""
    return world.run("running")

"""The screens' model over a store of the test's own, with no executor and no tmux."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.model import StoreModel, Surroundings
from app.seat import Seat
from executor.capture import PaneSource
from executor.service import host_executor
from executor.settings import ExecutorSettings
from providers import catalog
from store.database import Store, open_store
from store.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """Of the test."""
    return Home(tmp_path / "home")


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    """Of that home; empty."""
    opened = open_store(home.path / "pam.db")
    yield opened
    opened.close()


@pytest.fixture
def executor_settings() -> ExecutorSettings:
    """What an executor of the model would have."""
    return ExecutorSettings()


@pytest.fixture
def model(store: Store, home: Home, executor_settings: ExecutorSettings) -> Iterator[StoreModel]:
    """As the control room has it."""
    around = Surroundings(home, home.config, executor_settings, lambda: catalog.load(home.path))
    seat = Seat(home, lambda: host_executor(store, home, around.settings, hosted_by="control-room"))
    made = StoreModel(store, around, PaneSource(around.settings, home.path), seat)
    yield made
    made.close()

"""What is shipped: the wheel holds exactly our packages and their data, and nobody else ships their names."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"app", "screens", "executor", "providers", "store", "themes"}
DISTRIBUTION = "project-agent-manager"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Names in a wheel built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path).namelist()


def test_the_root_packages_are_those_of_the_wheel(wheel: list[str]) -> None:
    """design: the folders are the import packages."""
    shipped = {name.split("/")[0] for name in wheel if not name.split("/")[0].endswith(".dist-info")}
    roots = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert shipped == PACKAGES | {"pam_launch.py"}
    assert roots == PACKAGES


@pytest.mark.skipif(not (ROOT / ".git").exists() or shutil.which("git") is None, reason="no git checkout here")
def test_the_wheel_holds_every_module_and_data_file_that_git_tracks(wheel: list[str]) -> None:
    tracked = subprocess.run(["git", "ls-files", *PACKAGES], cwd=ROOT, check=True, capture_output=True, text=True)
    # The launcher stands in the wheel under the name that its script is found by.
    missing = set(tracked.stdout.split()) - {"app/_launch.py"} - set(wheel)
    assert not missing


def test_no_other_distribution_ships_our_names() -> None:
    owners = packages_distributions()
    for package in PACKAGES:
        others = set(owners.get(package, ())) - {DISTRIBUTION}
        assert not others, f"{package} also comes from {others}"


def test_the_lock_names_no_index_and_pins_everything_with_hashes() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    assert "index" not in lock
    assert "://" not in lock
    pins = [line for line in lock.splitlines() if line and not line.startswith((" ", "#"))]
    assert all("==" in pin for pin in pins)
    assert lock.count("--hash=sha256:") >= len(pins)


def test_every_dependency_is_explained_in_the_decisions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    told = (ROOT / "docs" / "decisions.md").read_text()
    names = [dependency.split(">")[0].split("=")[0] for dependency in project["dependencies"]]
    assert [name for name in names if name not in told] == []

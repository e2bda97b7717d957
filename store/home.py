"""Where one pam lives on disk: the paths below its home, and how the home is found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from store.errors import StoreUnavailable
from store.paths import absolute

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600


@dataclass(frozen=True, slots=True)
class Home:
    """A home directory; directories in it are 0700, files 0600."""

    path: Path

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.path / "pam.db"

    @property
    def config(self) -> Path:
        """The operator's settings."""
        return self.path / "config.toml"

    @property
    def providers(self) -> Path:
        """The operator's overrides of the provider catalog."""
        return self.path / "providers.toml"

    @property
    def executor_lock(self) -> Path:
        """Held by the one executor of this home."""
        return self.path / "executor.lock"

    @property
    def log(self) -> Path:
        """pam's own log."""
        return self.path / "logs" / "pam.log"

    def make(self) -> None:
        """Create the home itself. Raises StoreUnavailable when that cannot be done."""
        try:
            self.path.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnavailable(
                f"The home {self.path} cannot be made: {error.strerror}. Choose another with --home or PAM_HOME.",
                path=str(self.path),
            ) from error


def find_home(explicit: str | None = None, environ: Mapping[str, str] = os.environ) -> Home:
    """The home named by the operator, by ``PAM_HOME``, or the platform's data directory (PAM-SCOPE-015).

    Raises InvalidValue for a path that cannot be placed.
    """
    named = explicit or environ.get("PAM_HOME")
    if named:
        return Home(absolute(named, "home"))
    import platformdirs  # 17 ms, and only when nobody named a home

    return Home(Path(platformdirs.user_data_dir("pam", appauthor=False)))

"""Makes a home: its directories, a commented config.toml, the database, and the host ``local``."""

from __future__ import annotations

import os
from pathlib import Path

from app.config_scaffold import scaffold
from store import hosts
from store.database import Store, open_store
from store.errors import StoreUnavailable
from store.home import FILE_MODE, Home


def make_home(home: Home, *, actor: str) -> tuple[Store, list[Path]]:
    """The opened store of ``home``, and what was made now; nothing that exists is touched.

    Raises StoreUnavailable or StoreNewer.
    """
    wanted = [path for path in (home.path, home.config, home.database) if not path.exists()]
    home.make()
    store = open_store(home.database)
    try:
        _write_scaffold(home)
        hosts.ensure_local(store, actor=actor)
    except BaseException:
        store.close()
        raise
    return store, [path for path in wanted if path.exists()]


def _write_scaffold(home: Home) -> None:
    try:
        descriptor = os.open(home.config, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    except FileExistsError:
        return
    except OSError as error:
        raise StoreUnavailable(
            f"{home.config} cannot be written: {error.strerror}. Make the home writable, or use --home.",
            path=str(home.config),
        ) from error
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(scaffold())

"""One call of pam: what the global flags say, and what is opened once somebody asks for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from app.cli import output
from store.errors import ConfigError
from store.home import Home, find_home

if TYPE_CHECKING:
    from app.settings import Settings
    from providers.catalog import Catalog
    from store.database import Store

OPERATOR = "operator"
_RUN_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")


class Call:
    """Handed to every command; ``close`` when the call is over."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.json = False
        self.home_named: str | None = None
        self.config_named: str | None = None
        self._home: Home | None = None
        self._store: Store | None = None
        self._settings: Settings | None = None

    @property
    def home(self) -> Home:
        """The home that the flag, the environment or the platform names."""
        if self._home is None:
            self._home = find_home(self.home_named, self.environ)
        return self._home

    @property
    def store(self) -> Store:
        """The open store; a home that does not exist yet is made. Raises StoreUnavailable or StoreNewer."""
        if self._store is None:
            self._store = self._open()
        return self._store

    @property
    def settings(self) -> Settings:
        """What is in force. Raises ConfigError."""
        if self._settings is None:
            from app.settings import load

            self._settings = load(self.home, self.config_named, self.environ)
        return self._settings

    @property
    def catalog(self) -> Catalog:
        """The provider catalog. Raises ConfigError."""
        from providers.catalog import load

        return load(self.home.path, operator_file=self.settings.catalog_path)

    @property
    def secrets(self) -> list[str]:
        """What no log may hold beside what the environment itself calls a key. Raises ConfigError."""
        found = [self.settings.gateway_api_key] if self.settings.gateway_api_key else []
        with suppress(ConfigError):  # the catalog; who needs it says what is wrong with it
            catalog = self.catalog
            for provider in map(catalog.get, catalog.names()):
                for key in provider.keys:
                    found += [value for value in (self.environ.get(key), provider.env.get(key)) if value]
        return found

    @property
    def actor(self) -> str:
        """Who writes: the operator, or the agent whose run this process is part of."""
        run_id = self.environ.get("PAM_RUN", "")
        return f"agent:{run_id[:8]}" if _RUN_ID.fullmatch(run_id) else OPERATOR

    def emit(self, data: output.Data, text: output.Text) -> None:
        """The answer on stdout: ``data`` as one JSON object with ``--json``, else ``text``; one of them is made.

        That nobody reads it any more is no reason to lose the command's exit code.
        """
        with suppress(BrokenPipeError):
            if self.json:
                output.put_json(data() if callable(data) else data)
            else:
                output.put(text() if callable(text) else text)

    def close(self) -> None:
        """Let go of the store."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def _open(self) -> Store:
        if self.home.database.exists():
            from store.database import open_store

            return open_store(self.home.database)
        from app.first_start import make_home

        store, _ = make_home(self.home, actor=self.actor)
        output.say(f"A new home was made at {self.home.path}.")
        return store

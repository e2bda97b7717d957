"""Keeps the provider catalog current: a valid change is taken over, a faulty one is reported (PAM-PROV-008)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from watchfiles import awatch

from providers.catalog import Catalog, load, operator_path
from store.errors import ConfigError

log = logging.getLogger("pam.catalog")

_DEBOUNCE_MS = 200
_LOOK_ANYWAY_MS = 5_000
"""How often the file is looked at without a notice of the kernel, as on network file systems."""

_Fingerprint = tuple[int, int, int] | None


class CatalogKeeper:
    """Holds the catalog of the moment; runs that were planned keep what they were planned with.

    ``on_change`` is told each new catalog, ``on_error`` each fault of the file; both are called on the loop of
    ``watch``, and ``on_error`` by the constructor too.
    """

    def __init__(
        self,
        home: Path,
        *,
        operator_file: Path | None = None,
        on_change: Callable[[Catalog], None] | None = None,
        on_error: Callable[[ConfigError], None] | None = None,
    ) -> None:
        self.path = operator_file or operator_path(home)
        self.error: ConfigError | None = None
        """The fault of the file as it is now, None when it has none."""
        self._home = home
        self._on_change = on_change
        self._on_error = on_error
        self._catalog: Catalog | None = None
        self._seen = self._fingerprint()
        self._take(self._load())

    @property
    def catalog(self) -> Catalog:
        """The last valid catalog.

        Raises:
            ConfigError: the file had a fault from the start. The shipped catalog does not stand in for it, because
                the operator may have narrowed what an agent is allowed to do.
        """
        if self._catalog is None and self.error is not None:
            raise self.error
        assert self._catalog is not None
        return self._catalog

    async def watch(self) -> None:
        """Follow the file until cancelled; it may come, go, or be replaced, and may be a link."""
        names, directories = self._places()
        async for _ in awatch(
            *directories,
            watch_filter=lambda _, path: Path(path).name in names,
            debounce=_DEBOUNCE_MS,
            recursive=False,
            rust_timeout=_LOOK_ANYWAY_MS,
            yield_on_timeout=True,
        ):
            await self._follow()

    async def _follow(self) -> None:
        seen = await asyncio.to_thread(self._fingerprint)
        if seen == self._seen:
            return
        self._seen = seen
        self._take(await asyncio.to_thread(self._load))

    def _places(self) -> tuple[set[str], set[Path]]:
        """The names to look out for and where: the file's, and its target's when it is a link."""
        paths = (self.path, self.path.resolve())
        directories = {path.parent for path in paths if path.parent.is_dir()}
        return {path.name for path in paths}, directories or {self._home}

    def _fingerprint(self) -> _Fingerprint:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _load(self) -> Catalog | ConfigError:
        try:
            return load(self._home, operator_file=self.path)
        except ConfigError as error:
            return error

    def _take(self, loaded: Catalog | ConfigError) -> None:
        if isinstance(loaded, ConfigError):
            self.error = loaded
            log.warning("The catalog stays as it was: %s", loaded)
            if self._on_error:
                self._on_error(loaded)
            return
        self.error = None
        known, self._catalog = self._catalog, loaded
        if known != loaded:
            log.info("The catalog has %s", ", ".join(loaded.names()))
        if known is not None and known != loaded and self._on_change:
            self._on_change(loaded)

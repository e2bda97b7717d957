"""What the doctor looks at; each check says what it saw, and what to do when that is wrong."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator

from app.cli import doctor_executor
from app.cli.call import Call
from app.cli.doctor_executor import told
from app.cli.provider_checks import practice
from providers import doctor as provider_doctor
from providers.check import Check
from store import health
from store.errors import PamError

LEAST_FREE = 200 * 1024 * 1024
CLOCK_SLACK_S = 5.0
PRIVATE = ("config.toml", "providers.toml", "pam.db", "executor.lock", "logs", "runs", "specs", "spool", "wrapper")


def all_checks(call: Call) -> list[Check]:
    """Every check, in the order in which a fault explains the next ones."""
    parts: tuple[Callable[[Call], Iterator[Check]], ...] = (
        _home,
        _store,
        _config,
        _catalog,
        doctor_executor.tmux,
        doctor_executor.server,
        doctor_executor.executor,
        doctor_executor.clients,
        doctor_executor.spool,
        doctor_executor.logs,
        _providers,
    )
    return [check for part in parts for check in part(call)]


def _home(call: Call) -> Iterator[Check]:
    home = call.home.path
    if not home.is_dir():
        yield Check("home", "na", f"{home} is not there yet", "`pam init` makes it")
        return
    wanted = [home, *(path for path in (home / name for name in PRIVATE) if path.exists())]
    loose = [path for path in wanted if stat.S_IMODE(path.stat().st_mode) & 0o077]
    if loose:
        names = " ".join(str(path) for path in loose)
        yield Check("home", "problem", f"others may read {names}", f"chmod go-rwx {names}")
    elif not os.access(home, os.W_OK | os.X_OK):
        yield Check("home", "problem", f"{home} cannot be written", "make it writable, or choose another with --home")
    else:
        yield Check("home", "ok", str(home))
    free = shutil.disk_usage(home).free
    yield Check(
        "disk",
        "ok" if free >= LEAST_FREE else "problem",
        f"{free / 1024**3:.1f} GiB free",
        "free some space; logs of old runs are in runs/",
    )


def _store(call: Call) -> Iterator[Check]:
    if not call.home.database.exists():
        yield Check("store", "na", f"{call.home.database} is not there yet", "`pam init` makes it")
        return
    try:
        found = health.faults(call.store)
        health.check_writable(call.store, actor=call.actor)
        version = health.schema_version(call.store)
    except PamError as error:
        yield told("store", error)
        return
    if found:
        yield Check("store", "problem", "; ".join(found), f"move {call.home.database} away, or restore a copy of it")
    else:
        yield Check("store", "ok", f"sound and writable, schema {version}")
    yield _clock(call)


def _clock(call: Call) -> Check:
    """Times that lie ahead were written before the clock was set back; order does not depend on them."""
    newest, now = health.newest_moment(call.store), call.store.clock()
    ahead = (newest - now).total_seconds() if newest else 0.0
    if ahead <= CLOCK_SLACK_S:
        return Check("clock", "ok", "nothing was written down later than now")
    return Check(
        "clock",
        "problem",
        f"the clock is {ahead:.0f} s behind the newest time that was written down; it has gone back",
        "let it be set from the network; until it has caught up, ages and timeouts are off",
    )


def _config(call: Call) -> Iterator[Check]:
    try:
        settings = call.settings
    except PamError as error:
        yield told("config", error, "mend the line; `pam config show` says what is in force")
        return
    there = "" if settings.config_path.exists() else " is not there; defaults count"
    yield Check("config", "ok", f"{settings.config_path}{there}")


def _catalog(call: Call) -> Iterator[Check]:
    try:
        names = call.catalog.names()
    except PamError as error:
        yield told("catalog", error, "mend the line in providers.toml")
        return
    yield Check("catalog", "ok", ", ".join(names))


def _providers(call: Call) -> Iterator[Check]:
    try:
        catalog = call.catalog
    except PamError:
        return  # the check of the catalog has said why
    try:
        here = practice(call)
    except PamError:
        return  # nor does config.toml say how they are started
    yield from provider_doctor.checks(catalog, os.environ, practice=here)

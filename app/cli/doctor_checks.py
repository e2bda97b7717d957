"""What the doctor looks at; each check says what it saw, and what to do when that is wrong."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator

from app.cli.call import Call
from executor import lock
from executor.tmux import oneshot
from executor.tmux.errors import TmuxError
from executor.tmux.version import TmuxVersion
from providers import doctor as provider_doctor
from providers.doctor import Check
from store import health, runs
from store.errors import PamError

LEAST_FREE = 200 * 1024 * 1024
PRIVATE = ("config.toml", "providers.toml", "pam.db", "executor.lock", "logs", "runs", "specs", "spool", "wrapper")

TMUX_FAULTS: tuple[tuple[TmuxVersion, str], ...] = (
    (TmuxVersion(3, 6), "loses the exit status of fast exits and leaks captures; pam works around both"),
    (TmuxVersion(3, 7), "may drop the last output of a fast exit; pam's wrapper holds the pane open"),
)
"""What versions older than each are known for."""


def all_checks(call: Call) -> list[Check]:
    """Every check, in the order in which a fault explains the next ones."""
    parts: tuple[Callable[[Call], Iterator[Check]], ...] = (
        _home,
        _store,
        _config,
        _catalog,
        _tmux,
        _executor,
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
        yield _problem("store", error)
        return
    if found:
        yield Check("store", "problem", "; ".join(found), f"move {call.home.database} away, or restore a copy of it")
    else:
        yield Check("store", "ok", f"sound and writable, schema {version}")


def _config(call: Call) -> Iterator[Check]:
    try:
        settings = call.settings
    except PamError as error:
        yield _problem("config", error, "mend the line; `pam config show` says what is in force")
        return
    there = "" if settings.config_path.exists() else " is not there; defaults count"
    yield Check("config", "ok", f"{settings.config_path}{there}")


def _catalog(call: Call) -> Iterator[Check]:
    try:
        names = call.catalog.names()
    except PamError as error:
        yield _problem("catalog", error, "mend the line in providers.toml")
        return
    yield Check("catalog", "ok", ", ".join(names))


def _tmux(call: Call) -> Iterator[Check]:
    try:
        settings = call.settings.executor
        version = oneshot.find_tmux(settings)
    except PamError as error:
        yield _problem("tmux", error)
        return
    fault = next((words for newer, words in TMUX_FAULTS if version < newer), "")
    yield Check("tmux", "ok", f"{version}{': ' if fault else ''}{fault}")
    try:
        server = oneshot.identity(settings)
    except (oneshot.NoServer, oneshot.NoSocket):
        yield Check("tmux server", "na", f"none runs on socket {settings.tmux_socket}; the executor starts it")
    except TmuxError as error:
        fix = f"see what `tmux -L {settings.tmux_socket} list-sessions` says"
        yield Check("tmux server", "problem", str(error), fix)
    else:
        yield Check("tmux server", "ok", f"socket {settings.tmux_socket}, pid {server.pid}")


def _executor(call: Call) -> Iterator[Check]:
    state = lock.state(call.home)
    if state.running:
        yield Check("executor", "ok", f"{state.hosted_by}, pid {state.pid}")
        return
    try:
        waiting = len(runs.live(call.store)) if call.home.database.exists() else 0
    except PamError:
        waiting = 0
    fix = "`pam up --detach`, or open `pam`"
    if waiting:
        yield Check("executor", "problem", f"none runs, and {waiting} live run(s) need one", fix)
    else:
        yield Check("executor", "na", "none runs, and none is needed now", fix)


def _providers(call: Call) -> Iterator[Check]:
    try:
        catalog = call.catalog
    except PamError:
        return  # the check of the catalog has said why
    yield from provider_doctor.checks(catalog, os.environ)


def _problem(name: str, error: PamError, fix: str = "") -> Check:
    """The error's sentence says what to do as well."""
    return Check(name, "problem", error.message, fix)

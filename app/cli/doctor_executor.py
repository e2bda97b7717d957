"""What the doctor looks at where agents run: tmux, the executor, its control clients, spool and logs."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator

from app.cli.call import Call
from executor import health as found
from executor import lock
from executor.login_scope import login_scope
from executor.tmux import oneshot
from executor.tmux.errors import TmuxError
from providers.check import Check
from store import health, hosts, runs
from store import spool as spool_cursors
from store.errors import PamError

BEHIND = 1 << 20
"""Bytes of a spool that wait although an executor runs: more than a moment's worth."""


def tmux(call: Call) -> Iterator[Check]:
    """The program, and what its version is known for."""
    try:
        version = oneshot.find_tmux(call.settings.executor)
    except PamError as error:
        yield told("tmux", error)
        return
    faults = found.known_faults(version)
    yield Check("tmux", "ok", f"{version}{': ' if faults else ''}{'; '.join(faults)}")


def server(call: Call) -> Iterator[Check]:
    """The server of our socket, and what becomes of it when its user logs out."""
    try:
        settings = call.settings.executor
        version = oneshot.find_tmux(settings)
        running = oneshot.identity(settings)
    except PamError:
        return  # the checks of config and tmux have said why
    except (oneshot.NoServer, oneshot.NoSocket):
        yield Check("tmux server", "na", f"none runs on socket {settings.tmux_socket}; the executor starts it")
        yield _logout(os.getpid(), "a server started from here")
        return
    except TmuxError as error:
        fix = f"see what `tmux -L {settings.tmux_socket} list-sessions` says"
        yield Check("tmux server", "problem", str(error), fix)
        return
    older = f", still {running.version} until it ends" if running.version != version else ""
    yield Check("tmux server", "ok", f"socket {settings.tmux_socket}, pid {running.pid}{older}")
    yield _logout(running.pid, "the server")


def _logout(pid: int, what: str) -> Check:
    """FR-36: a warning at once, where it can be told."""
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # as in a container that runs under any number
        user = str(os.getuid())
    scope = login_scope(pid, user)
    state = {"stays": "ok", "ends": "problem", "unknown": "na"}[scope.outcome]
    return Check("logout", state, f"{what}: {scope.why}", scope.fix)  # type: ignore[arg-type] # one of the three


def executor(call: Call) -> Iterator[Check]:
    """Whether somebody holds the lock and does the work, or somebody should."""
    state = lock.state(call.home)
    try:
        store = call.store if call.home.database.exists() else None
        waiting = len(runs.live(store)) if store else 0
        host = hosts.get(store, hosts.LOCAL) if store and state.running else None
        patience = call.settings.executor.offline_after_s
    except PamError:
        waiting, host, patience = 0, None, 0.0
    fix = "`pam up --detach`, or open `pam`"
    if state.running:
        seen = host.last_seen_at if host else None
        silent = (call.store.clock() - max(filter(None, (seen, state.since)))).total_seconds() if seen else 0.0
        if silent > patience > 0:
            words = f"{state.hosted_by}, pid {state.pid}, holds the lock but has done nothing for {silent:.0f} s"
            yield Check("executor", "problem", words, f"`pam down`, else end pid {state.pid}; then `pam up --detach`")
        else:
            yield Check("executor", "ok", f"{state.hosted_by}, pid {state.pid}")
    elif waiting:
        yield Check("executor", "problem", f"none runs, and {waiting} live run(s) need one", fix)
    else:
        yield Check("executor", "na", "none runs, and none is needed now", fix)


def clients(call: Call) -> Iterator[Check]:
    """FR-31: control clients never outlive the pam that started them."""
    orphans = found.orphaned_clients(call.home.path)
    if orphans:
        words = f"{len(orphans)} of a pam that is gone: pid {', '.join(map(str, orphans))}"
        yield Check(
            "control clients", "problem", words, "`pam down`, `pam up --detach`: an executor ends them as it starts"
        )
    else:
        yield Check("control clients", "ok", "none is left over")


def spool(call: Call) -> Iterator[Check]:
    """What agents have said: how much there is, how much waits, what cannot be read."""
    try:
        seen = found.spool(call.home.path, _cursors(call))
        bound = call.settings.executor.spool_max_bytes
    except OSError as error:
        yield Check("spool", "problem", f"{error.filename or 'spool'}: {error.strerror}", "make it readable")
        return
    except PamError:
        return  # the checks of store and config have said why
    if not seen.sizes:
        yield Check("spool", "na", "nothing has been said yet")
        return
    count = len(seen.sizes)
    words = f"{amount(seen.bytes)} in {count} file{'' if count == 1 else 's'}"
    words += f", {amount(seen.waiting)} not ingested" if seen.waiting else ", all ingested"
    words += f", {seen.unreadable} lines that cannot be read" if seen.unreadable else ""
    newest = list(seen.sizes.values())[-1]
    if lock.state(call.home).running and (seen.waiting > BEHIND or newest > 4 * bound):
        yield Check("spool", "problem", words, f"the executor does not keep up; {call.home.log} says why")
    else:
        yield Check("spool", "ok", words)


def _cursors(call: Call) -> dict[str, int]:
    if not call.home.database.exists():
        return {}
    return spool_cursors.cursors(call.store, hosts.get(call.store, hosts.LOCAL).id)


def logs(call: Call) -> Iterator[Check]:
    """What has been written about runs and about pam itself."""
    try:
        known = health.run_ids(call.store) if call.home.database.exists() else set()
        seen = found.logs(call.home.path, known)
    except OSError as error:
        yield Check("logs", "problem", f"{error.filename or 'logs'}: {error.strerror}", "make it readable")
        return
    except PamError:
        return  # the check of the store has said why
    words = f"{amount(seen.bytes)} of {seen.runs} run{'' if seen.runs == 1 else 's'}, {amount(seen.own_bytes)} of pam"
    if seen.strangers and known:
        names = " ".join(map(str, seen.strangers[:3])) + (" …" if len(seen.strangers) > 3 else "")
        words += f"; {len(seen.strangers)} of no run that is known: {names}"
    yield Check("logs", "ok", words)


def amount(size: float) -> str:
    """``12 B``, ``3.4 MiB``."""
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.1f} {unit}".replace(".0 ", " ")
        size /= 1024
    return f"{size:.1f} GiB"


def told(name: str, error: PamError, fix: str = "") -> Check:
    """The check that an error answers; its sentence says what to do as well."""
    return Check(name, "problem", error.message, fix)

"""Who types into a run: the words a holder is known by, and the lease kept while he does (PAM-ATT-001 to 005)."""

from __future__ import annotations

import getpass
import os
import re
import socket
from typing import Final, Literal

import psutil

from store import leases
from store.database import Store
from store.errors import LeaseHeld
from store.records import Lease

HEARTBEAT_S: Final = 30.0
_HOLDER = re.compile(r"(?P<user>.*)@(?P<machine>[^@ ]+), (?:control room|terminal) (?P<pid>[0-9]{1,10})")


def holder(kind: Literal["control room", "terminal"]) -> str:
    """This process, as others read of it."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()}, {kind} {os.getpid()}"


def take(store: Store, run_id: str, mine: str, *, force: bool, actor: str) -> Lease:
    """The right to type into a run. Raises LeaseHeld while another has it.

    One whose process on this machine is gone has it no more: it was killed, and could not give it up.
    """
    try:
        return leases.acquire(store, run_id, mine, force=force, actor=actor)
    except LeaseHeld as held:
        if not _dead(str(held.details["holder"])):
            raise
        return leases.acquire(store, run_id, mine, force=True, actor=actor)


def in_the_way(store: Store, run_id: str) -> Lease | None:
    """The right of somebody who types into a run now, as ``take`` would find it."""
    held = leases.holder_of(store, run_id)
    return None if held is None or _dead(held.holder) else held


def lost(store: Store, run_id: str) -> str:
    """Why the right is gone, in a sentence."""
    held = leases.holder_of(store, run_id)
    if held is not None:
        return f"{held.holder} types into this run now; what you type goes nowhere."
    return "The right to type into this run was taken away; what you type goes nowhere."


def _dead(who: str) -> bool:
    found = _HOLDER.fullmatch(who)
    if found is None or found["machine"] != socket.gethostname():
        return False
    try:
        return psutil.Process(int(found["pid"])).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
    except psutil.Error:
        return False

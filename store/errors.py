"""Every error pam raises on purpose, as one tree.

::

    PamError                      code           exit
    ├── UsageError                usage          2   the call's words are off
    │   ├── InvalidValue          invalid_value  2   a value breaks a rule of its field
    │   └── ConfigError           config_invalid 2   a line of config.toml or providers.toml is wrong
    ├── NotFound                  not_found      3   no such project, item, run or host
    ├── Conflict                  conflict       4   the state does not allow it
    │   ├── IllegalTransition     illegal_transition  the state machine has no such edge
    │   ├── ArchivedProject       project_archived    structure is read-only
    │   └── Protocol              missing_attempt, invalid_attempt, malformed_signal
    ├── LeaseHeld                 lease_held     5   somebody else writes to this run
    ├── Ambiguous                 ambiguous_id   6   a prefix names more than one
    ├── StoreUnavailable          store_unavailable  7  cannot be opened, read-only, disk full
    │   └── StoreNewer            store_newer    7   made by a newer pam; left as it is
    ├── ExecutorNotRunning        executor_not_running 8
    ├── TmuxUnavailable           tmux_unavailable 9   missing, too old, or it does not answer
    └── ProviderUnavailable       provider_unavailable 10

``str(error)`` is the operator's sentence; ``error.code`` is the machine's word; ``error.details`` is JSON.
"""

from __future__ import annotations

from typing import ClassVar


class PamError(Exception):
    """The root. ``message`` says what is wrong and what to do; it ends up in front of the operator."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details: dict[str, object] = details

    def as_json(self) -> dict[str, object]:
        """Shape of ``{"error": …}`` on the command line."""
        return {"code": self.code, "message": self.message, "details": self.details}


class UsageError(PamError):
    """The call's words are off."""

    code = "usage"
    exit_code = 2


class InvalidValue(UsageError):
    """A value breaks a rule of its field."""

    code = "invalid_value"


class ConfigError(UsageError):
    """A file the operator edits has a fault; ``details`` hold ``path`` and ``line``."""

    code = "config_invalid"


class NotFound(PamError):
    """Nothing has this id, prefix or name."""

    code = "not_found"
    exit_code = 3


class Conflict(PamError):
    """The present state does not allow it."""

    code = "conflict"
    exit_code = 4


class IllegalTransition(Conflict):
    """The state machine has no such edge; ``details["legal"]`` lists those it has."""

    code = "illegal_transition"


class ArchivedProject(Conflict):
    """The project is archived: its structure is read-only (PAM-DATA-013)."""

    code = "project_archived"


class ProtocolError(Conflict):
    """A signal breaks the contract of PAM-SIG; nothing was written."""

    code = "malformed_signal"


class MissingAttempt(ProtocolError):
    """A signal without an attempt (PAM-SIG-009)."""

    code = "missing_attempt"


class InvalidAttempt(ProtocolError):
    """A signal from an attempt that was never allocated (PAM-SIG-008)."""

    code = "invalid_attempt"


class LeaseHeld(PamError):
    """Somebody else writes to this run; ``details`` name the holder."""

    code = "lease_held"
    exit_code = 5


class Ambiguous(PamError):
    """A prefix names more than one; ``details["matches"]`` lists them."""

    code = "ambiguous_id"
    exit_code = 6


class StoreUnavailable(PamError):
    """The database cannot be used: missing rights, a full disk, a lock that is never given up."""

    code = "store_unavailable"
    exit_code = 7


class StoreNewer(StoreUnavailable):
    """The database was made by a newer pam; it is left as it is."""

    code = "store_newer"


class ExecutorNotRunning(PamError):
    """No process holds the executor lock of this home."""

    code = "executor_not_running"
    exit_code = 8


class TmuxUnavailable(PamError):
    """tmux is missing, too old, or does not answer."""

    code = "tmux_unavailable"
    exit_code = 9


class ProviderUnavailable(PamError):
    """The provider is unknown, switched off, or its program is not installed (PAM-PROV-012)."""

    code = "provider_unavailable"
    exit_code = 10

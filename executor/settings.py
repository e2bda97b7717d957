"""The executor's tunables and their defaults; read from nowhere, handed in by whoever hosts the executor.

Times are seconds, sizes bytes, unless a name says otherwise. The numbers are PAM-CFG's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from providers.gateway import Gateway

SilenceAction = Literal["none", "stop"]
SILENCE_ACTIONS: tuple[SilenceAction, ...] = ("none", "stop")


@dataclass(frozen=True, slots=True)
class ExecutorSettings:
    """One executor's settings; frozen, so a change of configuration is a new value."""

    tmux_socket: str = "pam"
    """Name for ``tmux -L``; never ``default``, which is the operator's own server (PAM-TMUX-018)."""
    tmux_bin: str = "tmux"
    columns: int = 220
    rows: int = 50
    history_limit: int = 10_000
    """Lines of scrollback tmux keeps per pane: up to 12 MB each at 220 columns. The raw log keeps everything."""
    log_max_bytes: int = 64 * 1024 * 1024
    """A raw log beyond this is rotated to ``<log>.1`` by its writer; it may outgrow the bound by half."""
    log_check_s: float = 30.0
    """How often it is seen that every raw log has a writer."""
    spool_max_bytes: int = 8 * 1024 * 1024
    """A spool generation beyond this is followed by the next one."""

    command_timeout_s: float = 5.0
    """Deadline of one tmux command; a server that misses it is unknown, not dead."""
    reconnect_max_s: float = 5.0
    """Longest pause between two attempts to reach a host again."""

    dispatch_timeout_s: float = 300.0
    spawn_timeout_s: float = 30.0
    """How long a run may be starting before it counts as failed to spawn (FR-33)."""
    liveness_s: float = 10.0
    reconcile_s: float = 30.0
    orphan_hold_s: float = 3600.0
    """How long a session that no run explains is held for inspection before it is ended (PAM-ORPH-002)."""
    heartbeat_s: float = 30.0
    offline_after_s: float = 90.0
    host_lost_s: float = 86_400.0
    """A host unseen for this long has lost its runs (PAM-FLEET-004)."""
    max_attempts: int = 3
    """Attempts of a run where neither it nor its provider says otherwise (PAM-RST-002, rulings X-13)."""
    restart_initial_s: float = 10.0
    """Pause before the first restart of a failed run; each further one is ``restart_factor`` times as long."""
    restart_factor: int = 2
    restart_max_s: float = 60.0
    idle_hint_s: float = 600.0
    """An agent that printed nothing for this long may be done (PAM-COMP-004); 0 for no hint."""
    silence_s: float = 1800.0
    """And after this long it may hang (PAM-FLEET-003); 0 for no such flag."""
    silence_action: SilenceAction = "none"
    grace_s: float = 10.0
    """Between TERM and KILL (PAM-RST-004)."""
    hold_open_s: float = 300.0
    """How long the wrapper keeps a pane after its agent ended (PAM-WRAP-008)."""

    unproven_hooks: bool = False
    """Whether agents are given hooks whose recipe no test of the real CLI has proven (PAM-PROV-013)."""
    gateway: Gateway | None = None
    """The model gateway that agents are led through."""
    key_command: tuple[str, ...] = ()
    """Prints the key that its ``{name}`` names, where the environment has none."""
    first_run_answers: bool = True
    """Whether pam answers in a CLI's own file what it would ask in a directory it has not seen."""

    capture_hz: float = 4.0
    """Looks per second at a pane somebody watches."""
    quiet_hz: float = 1.0
    """The same once every watched pane has been silent for ``quiet_after_s``."""
    quiet_after_s: float = 30.0
    snapshot_cache: int = 1000
    """Latest screens kept in memory, least recently used out first (PAM-OBS-004)."""

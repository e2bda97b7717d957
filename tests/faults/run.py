"""``make faults SEED=n ROUNDS=m``: play one seed, or several (``SEED=1-20``), and say every step with its time."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.faults.driver import FaultFound, play


def main(seeds: str = "", rounds: str = "30") -> int:
    """0 when everything held, 1 at the first broken invariant."""
    for number in (signal.SIGTERM, signal.SIGHUP):  # as Ctrl-C does: end the world that is being broken
        signal.signal(number, lambda given, _: sys.exit(128 + given))
    chosen = _seeds(seeds) if seeds else [time.time_ns() % 1_000_000]
    began = time.monotonic()
    for seed in chosen:
        say(f"seed {seed}, {rounds} faults")
        with tempfile.TemporaryDirectory(prefix="pam-faults-", ignore_cleanup_errors=True) as folder:
            home = Path(folder, "user")
            home.mkdir()
            os.environ.update(HOME=str(home), PAM_HOME=f"{folder}/pam-home")
            for name in ("PAM_CONFIG", "PAM_RUN", "PAM_ATTEMPT", "PAM_SPOOL", "TMUX", "TMUX_PANE"):
                os.environ.pop(name, None)
            world = Path(folder, "world")
            world.mkdir()
            try:
                play(world, seed, int(rounds), say=say)
            except FaultFound as found:
                say(f"\n{found}\n\nagain: make faults SEED={seed} ROUNDS={rounds}")
                return 1
    say(f"{len(chosen)} seeds, {int(rounds) * len(chosen)} faults, {time.monotonic() - began:.0f} s: all held")
    return 0


def say(line: str) -> None:
    """A line on standard output, at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _seeds(text: str) -> list[int]:
    first, _, last = text.partition("-")
    return list(range(int(first), int(last or first) + 1))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

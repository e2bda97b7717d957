"""``pam demo``, for ``make demo``: not in the help."""

from __future__ import annotations

from app.cli.declare import command


@command("demo", hidden=True)
def demo() -> int:
    """Three demo agents and a shell run at once, on a home and a tmux server of their own."""
    from app.demo import run_demo

    return run_demo()

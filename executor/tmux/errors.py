"""What can go wrong with a tmux command, whichever way it was sent; apart from asyncio, which one-shot calls spare."""

from __future__ import annotations


class TmuxError(Exception):
    """A tmux command did not do its work; the text says why."""


class TmuxRefused(TmuxError):
    """tmux answered with an error: the command was not carried out, nor what stood behind it on its line."""


class TmuxSilent(TmuxError):
    """No answer before the deadline."""


class TmuxGone(TmuxError):
    """The client has no server any more, or never had one."""

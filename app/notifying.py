"""How a notice leaves the control room: the terminal's bell, a sequence that it understands, or ``notify-send``."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from contextlib import suppress

from textual import events
from textual.app import App

from app.notice_settings import NoticeSettings, Way
from app.notices import Notice, Notices
from screens.desk import Desk

log = logging.getLogger("pam.notices")

PATIENCE_S = 5.0
"""How long ``notify-send`` may take."""


class Notifying(App[None]):
    """The part of the control room that knows whether one looks at it, and calls when one does not."""

    desk: Desk
    _looked_at: bool | None = None
    """None while the terminal has not said which window has the keyboard."""

    def on_app_focus(self, _: events.AppFocus) -> None:
        self._looked_at = True

    def on_app_blur(self, _: events.AppBlur) -> None:
        self._looked_at = False

    def notices(self, settings: NoticeSettings) -> Notices:
        """Tells the operator in the ways of the settings."""

        async def send(notice: Notice) -> None:
            for way in settings.via:
                if way == "notify-send":
                    await notify_send(notice)
                else:
                    self._write(sequence(way, notice, os.environ))

        return Notices(settings, self.desk.model, self.desk.clock, lambda: self._looked_at is True, send)

    def _write(self, text: str) -> None:
        # Textual has no public way to write a sequence of one's own; copying to the clipboard goes this way, too.
        if self._driver is not None and not self._driver.is_headless:
            self._driver.write(text)


def sequence(way: Way, notice: Notice, environ: Mapping[str, str]) -> str:
    """What is written to the terminal. Inside tmux a notice is handed through, where tmux is set to allow that."""
    title, body = (text.replace(";", ",") for text in notice)
    written: Mapping[Way, Callable[[], str]] = {
        "osc9": lambda: f"\x1b]9;{title}: {body}\x07",
        "osc777": lambda: f"\x1b]777;notify;{title};{body}\x07",
    }
    if way not in written:
        return "\x07"
    text = written[way]()
    return "\x1bPtmux;" + text.replace("\x1b", "\x1b\x1b") + "\x1b\\" if environ.get("TMUX") else text


async def notify_send(notice: Notice) -> None:
    """Ask the desktop to show it; that it can't is logged and no more."""
    quiet = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *("notify-send", "--app-name=pam", "--", *notice), stdin=quiet, stdout=quiet, stderr=quiet
        )
    except OSError as error:
        log.warning("notify-send can't be started, so nobody is notified that way: %s", error.strerror)
        return
    try:
        async with asyncio.timeout(PATIENCE_S):
            code = await process.wait()
    except TimeoutError:
        with suppress(ProcessLookupError):
            process.kill()
        code = await process.wait()
    if code:
        log.warning("notify-send ended with %d; is there a desktop that shows notifications?", code)

"""Whose turn it is on the terminal: the control room's, or a program's that has all of it until it ends."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import IO

from textual.app import SuspendNotSupported

from app.editor import editor_argv
from app.looks import Looks
from screens.keys_in_order import KeysInOrder
from screens.messages import EditFile, TakeTerminal
from store.errors import PamError


class TerminalTurns(Looks, KeysInOrder):
    """While a program has the terminal everything of ours stands still, but the executor's thread."""

    def on_take_terminal(self, message: TakeTerminal) -> None:
        """Hand the terminal to an agent's session; why that ended is said here, where the operator is again."""
        with TemporaryFile() as told:
            code = self._hand_over(message.argv, told)
            if code:
                told.seek(0)
                said = told.read().decode(errors="replace").strip().rpartition("\n")[2]
                self.complain(said or f"The terminal came back with code {code}; the session may be gone.")

    def on_edit_file(self, message: EditFile) -> None:
        """Open the operator's editor; ``then`` follows when it has ended well."""
        try:
            argv = editor_argv(os.environ, message.path, message.line)
        except PamError as error:
            self.complain(str(error))
            self.drop_keys()
            return
        code = self._hand_over(argv)
        if code == 0:
            message.then()
        elif code is not None:
            self.complain(f"{argv[0]} ended with {code}: {message.path} is taken as it was. $EDITOR names the editor.")

    def _hand_over(self, argv: Sequence[str], told: IO[bytes] | None = None) -> int | None:
        """The exit code of the program; None where it could not have the terminal, which is said.

        ``told`` takes what it says on standard error: on the terminal that would be gone with the next frame.
        """
        try:
            with self.suspend(), _uninterrupted():
                return subprocess.run(argv, check=False, stderr=told).returncode
        except (SuspendNotSupported, OSError) as error:
            self.complain(f"The terminal can't be handed over: {error}. In another one, try: {shlex.join(argv)}")
            return None
        finally:
            self.drop_keys()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """ctrl+c is the program's; a function in place of "ignore", which the program would inherit."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)

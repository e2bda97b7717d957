"""From a growing file's bytes to its complete lines, each handed on once, with how far they reach."""

from __future__ import annotations

LONGEST_LINE = 1 << 20
"""Bytes of a line that is still looked at; a longer one holds pictures or whole files, and is passed over."""


class LineCutter:
    """Takes a file's bytes in order; a last line without its end waits for the rest."""

    def __init__(self) -> None:
        self.offset = 0
        """Where the next bytes are read."""
        self._rest = b""
        self._skipping = False

    @property
    def done(self) -> int:
        """Where the first line starts that was not handed on yet."""
        return self.offset - len(self._rest)

    def cut(self, data: bytes) -> list[bytes]:
        """The lines that ``data`` completes, without their ends."""
        self.offset += len(data)
        *lines, rest = (self._rest + data).split(b"\n")
        if lines and self._skipping:
            del lines[0]
            self._skipping = False
        if self._skipping or len(rest) > LONGEST_LINE:
            self._skipping, rest = True, b""
        self._rest = rest
        return [line for line in lines if len(line) <= LONGEST_LINE]

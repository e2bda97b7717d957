"""Raw terminal output as lines of text: for reading a log, never for judging what an agent does (PAM-OBS-010)."""

from __future__ import annotations

import codecs
import re

_STRING = r"\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|(?=\x1b)|\Z)"
_CSI = r"\x1b\[[0-?]*[ -/]*[@-~]"
_OTHER = r"\x1b[ -/]*[0-~]"
_SEQUENCE = re.compile(f"{_STRING}|{_CSI}|{_OTHER}")
_UNFINISHED = re.compile(r"\x1b(?:[\]PX^_][^\x07\x1b]*\x1b?|\[[0-?]*[ -/]*|[ -/]*)$")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_FORWARD = re.compile(r"\x1b\[(\d*)C")
_COLUMN = re.compile(r"\x1b\[\d*G")
_ELSEWHERE = re.compile(r"\x1b\[[0-9;]*[HfdABEFJ]|\x1b[c78M]|\x1b\[\?(?:1049|47)[hl]")
LONGEST = 64 * 1024
"""Characters that a line, or a sequence that does not end, may have; then it is given as it is."""
WIDEST_GAP = 200


class PlainLog:
    """Takes bytes as they come and gives lines: no escape sequence, no control character, no screenful of blanks.

    A full-screen program paints over itself; each stretch it paints in one place becomes a line.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._line = ""
        """What was said since the last line break; clean."""
        self._sequence = ""
        """The beginning of an escape sequence, whose end has not come yet."""
        self._blank = True
        """Whether the last line given was empty, or none was given yet."""

    def take(self, data: bytes) -> str:
        """The lines that ``data`` completes, each with its newline."""
        text = self._sequence + self._decoder.decode(data)
        unfinished = _UNFINISHED.search(text)
        at = unfinished.start() if unfinished else len(text)
        text, self._sequence = text[:at], text[at:] if len(text) - at < LONGEST else ""
        text = _FORWARD.sub(lambda match: " " * min(int(match[1] or 1), WIDEST_GAP), text)
        text = _SEQUENCE.sub("", _ELSEWHERE.sub("\n", _COLUMN.sub(" ", text)))
        *lines, self._line = (self._line + text).split("\n")
        if len(self._line) > LONGEST:
            lines.append(self._line)
            self._line = ""
        return "".join(self._given(line) for line in lines)

    def rest(self) -> str:
        """The last line, which nothing ended."""
        last, self._line, self._sequence = self._line, "", ""
        return self._given(last) if last else ""

    def _given(self, line: str) -> str:
        said = _overwritten(line).rstrip()
        if not said and self._blank:
            return ""
        self._blank = not said
        return said + "\n"


def plain_text(data: bytes) -> str:
    """A whole log as lines of text."""
    plain = PlainLog()
    return plain.take(data) + plain.rest()


def _overwritten(line: str) -> str:
    """What is left of a line that carriage returns and backspaces went over."""
    parts = [part for part in line.split("\r") if part.strip()]
    said = parts[-1] if parts else ""
    while "\b" in said:
        at = said.index("\b")
        said = said[: max(at - 1, 0)] + said[at + 1 :]
    return _CONTROL.sub("", said)

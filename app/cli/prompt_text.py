"""A prompt as it is given on the command line: in words, in a file, or on stdin."""

from __future__ import annotations

import sys
from pathlib import Path

from store.errors import InvalidValue


def read_text(file: str) -> str:
    """The text of a file, of stdin for ``-``. Raises InvalidValue."""
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidValue(f"The prompt in {file} is not UTF-8.", field="prompt") from None
    except OSError as error:
        raise InvalidValue(f"The prompt file {file} cannot be read: {error.strerror}.", field="prompt") from None

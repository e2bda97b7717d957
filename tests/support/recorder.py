"""A program for a pane that takes what is typed byte for byte and writes it down: ``python recorder.py FILE [WORDS]``.

It asks for bracketed pastes as agents do. With ``signals`` it behaves like an agent with hooks: it says through
``$PAM_SIGNAL`` that it is idle once it reads. It ends when it reads ``^D``.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tty


def main(path: str, *words: str) -> None:
    """Read until the end."""
    tty.setraw(0)
    os.write(1, b"\x1b[?2004hready\r\n")
    if "signals" in words:
        subprocess.run([*shlex.split(os.environ["PAM_SIGNAL"]), "progress", "--activity", "idle"], check=False)
    with open(path, "ab", buffering=0) as record:
        while b"\x04" not in (data := os.read(0, 65536)):
            record.write(data)


if __name__ == "__main__":
    main(*sys.argv[1:])

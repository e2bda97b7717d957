"""Entry of the console script: drops the caller's PYTHONPATH before anything of pam is imported.

Agents run in repositories that may have an ``app`` or a ``store`` of their own; a PYTHONPATH that points into
one would shadow pam's packages. The environment itself stays as it is, so agents still see the variable.
"""
# ruff: noqa: PTH100, PTH120
# No pathlib: until the path is clean, any import could bring the caller's module.

import os
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    drop_pythonpath()
    from app.start import start

    start()


def drop_pythonpath() -> None:
    """Remove from ``sys.path`` what PYTHONPATH put there, and the current directory.

    An entry that an editable install of pam needs as well is put back, behind everything else.
    """
    entries = os.environ.get("PYTHONPATH", "")
    caller = {os.path.abspath(entry) for entry in entries.split(os.pathsep)} if entries else set()
    kept = [entry for entry in sys.path if entry and os.path.abspath(entry) not in caller]
    if kept == sys.path:
        return
    sys.path[:] = kept
    import site

    site.addsitedir(os.path.dirname(os.path.abspath(__file__)))


if __name__ == "__main__":
    main()

"""How Kimi Code calls what it keeps about a directory."""

from __future__ import annotations

import hashlib
import re

_SLUG_MAX, _HASH_MAX = 40, 12


def workspace_key(directory: str) -> str:
    """The directory's name, made tame, and a hash of its path; kimi takes the path without symbolic links."""
    path = directory.rstrip("/")
    name = re.sub(r"[^a-z0-9._-]+", "-", path.rpartition("/")[2].lower()).strip("-")[:_SLUG_MAX].strip("-")
    tame = "workspace" if name in ("", ".", "..") else name
    return f"wd_{tame}_{hashlib.sha256(path.encode('utf-8', 'replace')).hexdigest()[:_HASH_MAX]}"

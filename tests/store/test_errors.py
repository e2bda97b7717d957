"""The tree of errors is what its page says, and what scripts rely on."""

from __future__ import annotations

import re

import pytest

from store import errors
from store.errors import PamError

EXIT_CODES = {
    "UsageError": 2,
    "InvalidValue": 2,
    "ConfigError": 2,
    "NotFound": 3,
    "Conflict": 4,
    "IllegalTransition": 4,
    "ArchivedProject": 4,
    "ProtocolError": 4,
    "MissingAttempt": 4,
    "InvalidAttempt": 4,
    "LeaseHeld": 5,
    "Ambiguous": 6,
    "StoreUnavailable": 7,
    "StoreNewer": 7,
    "ExecutorNotRunning": 8,
    "TmuxUnavailable": 9,
    "ProviderUnavailable": 10,
}
"""``cli.md``, exit codes (PAM-CLI-038)."""


def _tree(root: type[PamError] = PamError) -> list[type[PamError]]:
    return [root, *(found for child in root.__subclasses__() for found in _tree(child))]


def _ours() -> dict[str, type[PamError]]:
    return {kind.__name__: kind for kind in _tree() if kind.__module__ == errors.__name__}


def test_every_error_has_its_exit_code() -> None:
    """PAM-CLI-038, PAM-SIG-017: typed errors with a code."""
    assert {name: kind.exit_code for name, kind in _ours().items() if name != "PamError"} == EXIT_CODES


def test_codes_are_unique_words() -> None:
    codes = [kind.code for kind in _ours().values()]
    assert len(codes) == len(set(codes))
    assert all(re.fullmatch(r"[a-z_]+", code) for code in codes)


def test_drawn_tree_names_every_code() -> None:
    """House style: the tree in the docstring is the tree."""
    assert errors.__doc__ is not None
    missing = [kind.code for kind in _ours().values() if kind.code not in errors.__doc__]
    assert missing == []


@pytest.mark.parametrize("name", EXIT_CODES)
def test_error_is_json_with_code_message_details(name: str) -> None:
    """PAM-SIG-017, PAM-API-002."""
    error = _ours()[name]("What is wrong.", field="title")
    assert str(error) == error.message == "What is wrong."
    assert error.as_json() == {"code": error.code, "message": "What is wrong.", "details": {"field": "title"}}

"""Keys that are not in the operator's environment, fetched from where the operator keeps them.

``[secrets] command`` of config.toml prints one: ``secret-tool lookup service pam name {name}``, ``pass show {name}``,
``op read op://pam/{name}/password``, ``security find-generic-password -s {name} -w``. It is asked when an agent is
started, and what it says goes into that agent's environment and nowhere else (PAM-SEC-003).
"""

from __future__ import annotations

import logging
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from providers.gateway import KEY_VARIABLE, Gateway
from providers.provider import Provider
from store import redaction

log = logging.getLogger("pam.keys")

PLACEHOLDER = "{name}"
PATIENCE_S = 10.0
"""How long the command may take: it may ask the operator to unlock something."""


class KeyCommandFailed(Exception):
    """The command cannot be run, or did not answer in time; the text says which."""


def find(command: Sequence[str], name: str, environ: Mapping[str, str]) -> str | None:
    """The key of that name, None where the command knows none (it failed, or printed nothing).

    Raises KeyCommandFailed.
    """
    argv = [word.replace(PLACEHOLDER, name) for word in command]
    try:
        done = subprocess.run(
            argv,
            env=dict(environ),
            cwd=Path("/"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise KeyCommandFailed(f"`{argv[0]}` gave no answer in {PATIENCE_S:g} s") from None
    except OSError as error:
        raise KeyCommandFailed(f"`{argv[0]}` cannot be run: {error.strerror}") from None
    said = done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""
    first = said.splitlines()[0].strip() if said else ""
    redaction.learn([first])
    return first if first.isprintable() and first else None


def with_keys(
    provider: Provider, gateway: Gateway | None, environ: Mapping[str, str], command: Sequence[str]
) -> tuple[Mapping[str, str], Gateway | None]:
    """The environment and the gateway with the keys that were missing, as far as the command knows them.

    A command that fails is logged and costs the key: the CLI's own login may do.
    """
    if not command:
        return environ, gateway
    try:
        if gateway is not None and gateway.leads(provider):
            if gateway.api_key is None:
                gateway = replace(gateway, api_key=find(command, KEY_VARIABLE, environ))
            if gateway.api_key is not None:
                return environ, gateway
        return {**environ, **_own(provider, environ, command)}, gateway
    except KeyCommandFailed as error:
        log.warning("No key for provider %s from [secrets] command: %s", provider.name, error)
        return environ, gateway


def is_set(provider: Provider, environ: Mapping[str, str]) -> list[str]:
    """The provider's keys that are in the environment or its entry."""
    return [name for name in provider.keys if environ.get(name) or provider.env.get(name)]


def _own(provider: Provider, environ: Mapping[str, str], command: Sequence[str]) -> dict[str, str]:
    """The first of the provider's keys that the command knows; none where one is set already."""
    if is_set(provider, environ):
        return {}
    for name in provider.keys:
        if found := find(command, name, environ):
            return {name: found}
    return {}

"""`pam provider doctor --smoke` with the real programs: led to the stub as to a gateway, they answer (PAM-GW-003)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from executor.settings import ExecutorSettings
from executor.smoke import smoke
from providers.catalog import load
from tests.support import real_clis

pytestmark = [pytest.mark.real_cli, pytest.mark.timeout(400), pytest.mark.usefixtures("tmux_sandbox")]


@pytest.mark.parametrize("name", list(real_clis.CLIS))
def test_it_answers_in_a_home_of_its_own(name: str, tmp_path: Path) -> None:
    real_clis.install(name)
    provider = load(tmp_path).get(name)
    assert provider.can_smoke
    environ = real_clis.scrubbed_environment(name, tmp_path / "home", "http://127.0.0.1:9")
    came = asyncio.run(smoke(provider, ExecutorSettings(), environ, patience_s=120))
    assert came.answered, came
    assert came.hooks is provider.hooks.proven, came

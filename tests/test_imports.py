"""The core runs without the surface: what a fresh interpreter has loaded after importing a part of pam."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        ("store.runs", ("textual", "rich", "libtmux", "executor", "providers", "screens", "app")),
        ("providers.catalog", ("textual", "rich", "libtmux", "executor", "screens", "app")),
        ("executor.service", ("textual", "rich", "libtmux", "screens", "app")),
        ("screens.board", ("libtmux", "app")),
    ],
)
def test_importing_a_part_does_not_bring_what_stands_above_it(module: str, forbidden: tuple[str, ...]) -> None:
    code = f"import sys, {module}; print(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not set(forbidden) & set(done.stdout.split())

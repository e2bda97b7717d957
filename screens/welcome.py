"""What a home without projects says: which agents are here, and the three keys to the first run."""

from __future__ import annotations

from textual.content import Content

from screens.confine import one_line
from screens.model import FirstStart


def welcome(found: FirstStart) -> Content:
    """No project yet; what to press."""
    if found.agents:
        here: list[str | tuple[str, str]] = [("✓ ", "$good"), ", ".join(map(one_line, found.agents))]
        here += [(" found here" if len(found.agents) > 1 else " is found here", "$soft"), ".  "]
    else:
        here = [("○ ", "$soft"), "No agent CLI is found here yet; the demo agent shows how it goes.  "]
    where = f"  for {one_line(found.cwd)}" if found.cwd else "  a name, and the directory its agents work in"
    return Content.assemble(
        ("pam", "bold $accent"),
        "\n\nNo project yet.\n\n",
        *here,
        ("5", "bold $accent"),
        (" shows all.", "$soft"),
        "\n\n",
        *_step("p", "makes a project", where),
        *_step("n", "makes a task", "  one line, what is to be done"),
        *_step("s", "starts an agent on it", "  and the board shows how it goes"),
    )


def _step(key: str, does: str, more: str) -> list[str | tuple[str, str]]:
    return [(key, "bold $accent"), f" {does}", (more, "$soft"), "\n"]

"""``make bench [ONLY=name]``: runs the benchmarks, prints them, and writes ``bench-report.json``.

Exit code 1 when a bound is not kept.
"""

from __future__ import annotations

import compileall
import importlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BENCHMARKS = (
    "task_list",
    "exit_to_board",
    "exit_to_journal",
    "hook_command",
    "hook_to_board",
    "ten_writers",
    "start_50",
    "fleet_quiet",
    "fleet_busy",
    "reconcile_200",
    "captures",
    "board_keys",
    "search_keys",
    "board_update",
    "first_paint",
    "room_quiet",
    "wall_12",
    "attach_keys",
    "attach_flood",
    "attach_stalls",
)


def main(only: list[str]) -> int:
    """Run those named, or all."""
    sys.path.insert(0, str(ROOT))
    unknown = [name for name in only if name not in BENCHMARKS]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    # Where Python is told to write no bytecode, a fresh checkout would be compiled at each start.
    for package in ("app", "screens", "executor", "providers", "store", "themes"):
        compileall.compile_dir(ROOT / package, quiet=1)
    figures = []
    for name in only or BENCHMARKS:
        figure = importlib.import_module(f"tests.bench.{name}").measure()
        figures.append(figure.as_json())
        print(json.dumps(figures[-1]), flush=True)
    (ROOT / "bench-report.json").write_text(json.dumps(figures, indent=2) + "\n")
    return 0 if all(figure["holds"] for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A pretended agent CLI that repeats its keys wherever it can, for tests of what pam lets through."""

from __future__ import annotations

import shlex
from pathlib import Path

ENTRY = """
[leaky]
title = "Leaky"
bin = "{program}"
argv = ["{{bin}}", ["--", "{{prompt}}"]]
prompt = "argv"
tui_type = "line_oriented"
keys = ["LEAKY_AUTH", "LEAKY_API_KEY"]
"""

_SCRIPT = """\
#!/bin/sh
printf 'my keys are %s and %s\\n' "$LEAKY_API_KEY" "$LEAKY_AUTH"
$PAM_SIGNAL progress --activity working --note "calling with $LEAKY_API_KEY" --message "auth $LEAKY_AUTH"
printf '{"hook_event_name":"StopFailure","error":"401 for %s","last_assistant_message":"no: %s (%s)"}' \
"$LEAKY_AUTH" "$LEAKY_API_KEY" "$LEAKY_AUTH" | $PAM_SIGNAL hook claude
$PAM_SIGNAL failed --error "API Error: 401 invalid x-api-key $LEAKY_API_KEY"
touch GATE.said
while [ ! -e GATE ]; do sleep 0.05; done
echo "giving up on $LEAKY_API_KEY" >&2
exit 3
"""


def make_leaky(folder: Path, home: Path) -> Path:
    """The program and its entry in the home's catalog; the file that lets it end. ``.said`` beside that one tells
    that it has said everything.
    """
    folder.mkdir(parents=True, exist_ok=True)
    gate, program = folder / "gate", folder / "leaky"
    program.write_text(_SCRIPT.replace("GATE", shlex.quote(str(gate))))
    program.chmod(0o755)
    (home / "providers.toml").write_text(ENTRY.format(program=program))
    return gate

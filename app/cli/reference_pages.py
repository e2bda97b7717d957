"""The text of the generated pages, made from the commands, the errors and the keys themselves."""

from __future__ import annotations

import click

from app.cli.main import root
from app.cli.provider_pages import providers
from app.config_keys import FREE_SECTION, KEYS, SECTIONS, Key
from app.config_scaffold import toml
from executor.lock import ExecutorBusy
from store import errors
from store.errors import PamError

WIDTH = 100
MADE = "<!-- Made by `make docs` from the code; changes here are lost. -->"

_CLI_HEAD = f"""\
{MADE}

# Command line

`--json` prints exactly one JSON object on stdout; narration goes to stderr. Ids are full UUIDs in JSON; on the command
line any unique prefix of 4 or more digits names an item or a run, a slug or such a prefix a project. Times are ISO 8601
UTC with `Z`. Flags stand before or after the verb. Keys may be added to a shape; none is taken away or changes its
meaning. What goes wrong is an [exit code](exit-codes.md), a sentence on stderr, and with `--json`
`{{"error": {{"code", "message", "details"}}}}` on stdout.

A process inside a run (`PAM_RUN` is set) writes as `agent:<run>`, everybody else as `operator`.

## Completion

Put the line for your shell where it reads it at start; it completes commands and flags.

| shell | line |
| --- | --- |
| bash | `eval "$(_PAM_COMPLETE=bash_source pam)"` |
| zsh | `eval "$(_PAM_COMPLETE=zsh_source pam)"` |
| fish | `_PAM_COMPLETE=fish_source pam \\| source` |
"""

_EXIT_HEAD = f"""\
{MADE}

# Exit codes

| exit | means |
| --- | --- |
| 0 | done; also `run wait` and `run start --wait` of a run that exited |
"""

_FIXED = {
    1: "`doctor` or another check found a problem; or pam failed in a way it does not know, and logged it",
    20: "`run wait`, `run start --wait`: the run failed",
    21: "`run wait`, `run start --wait`: the run was stopped",
    22: "`run wait`, `run send`, `run keys`: the time is up, the run goes on",
    23: "`run send`: the prompt was typed, and the agent did not say that it took it up",
    130: "interrupted by ctrl+c or TERM; agents go on. `up` ends with 0 then, it is how it ends",
}

_CONFIG_HEAD = f"""\
{MADE}

# Configuration

A flag counts before the file, the file before the environment, the environment before the default. `pam config show`
says what is in force and where each value came from; `pam config set KEY VALUE` changes one and keeps your comments. A
key that does not exist, or a value it cannot have, is refused with its line.

| what | where |
| --- | --- |
| the home | `--home`, else `PAM_HOME`, else `~/.local/share/pam` (Linux), `~/Library/Application Support/pam` (macOS) |
| config.toml | `--config`, else `PAM_CONFIG`, else in the home |
| your provider entries | `[providers] catalog_path`, else providers.toml in the home |
| pam's own log | `logs/pam.log` in the home; `[log]` says how much and in which form |
"""


def command_line() -> str:
    """docs/cli.md."""
    context = click.Context(root, info_name="pam", terminal_width=WIDTH, max_content_width=WIDTH)
    parts = [_CLI_HEAD, _block("pam", root, context)]
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        if command is not None and not command.hidden:
            parts += _of_command(command, context)
    return "\n".join(parts)


def exit_codes() -> str:
    """docs/exit-codes.md."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, PamError)]
    leaves = [kind for kind in kinds if kind is not PamError]
    lines: dict[int, str] = dict(_FIXED)
    for kind in leaves:
        lines.setdefault(kind.exit_code, _first_sentence(kind))
    table = [f"| {number} | {lines[number]} |" for number in sorted(lines)]
    told: list[type[PamError]] = [*leaves, ExecutorBusy]
    codes = [f"| `{kind.code}` | {kind.exit_code} | {_first_sentence(kind)} |" for kind in told]
    codes.append("| `internal` | 1 | pam failed in a way it does not know, and logged it |")
    head = ["", "## Codes of errors", "", "What `error.code` says with `--json`.", ""]
    return _EXIT_HEAD + "\n".join([*table, *head, "| code | exit | means |", "| --- | --- | --- |", *codes]) + "\n"


def configuration() -> str:
    """docs/configuration.md."""
    parts = [_CONFIG_HEAD]
    for section, meaning in SECTIONS.items():
        parts.append(f"## [{section}]\n\n{meaning}\n")
        if section != FREE_SECTION:
            rows = [_row(key) for key in KEYS if key.section == section]
            parts.append("\n".join(["| key | default | limits | means |", "| --- | --- | --- | --- |", *rows]) + "\n")
    return "\n".join(parts)


def provider_page() -> str:
    """docs/providers.md."""
    return f"{MADE}\n\n{providers()}"


def _of_command(command: click.Command, parent: click.Context) -> list[str]:
    context = click.Context(command, info_name=command.name, parent=parent)
    if not isinstance(command, click.Group):
        return [_block(context.command_path, command, context)]
    verbs = [command.get_command(context, name) for name in command.list_commands(context)]
    title = f"## {context.command_path}\n\n{command.help}\n"
    return [title, *(part for verb in verbs if verb is not None for part in _of_command(verb, context))]


def _block(path: str, command: click.Command, context: click.Context) -> str:
    level = "###" if path.count(" ") > 1 else "##"
    return f"{level} {path}\n\n```text\n{command.get_help(context)}\n```\n"


def _first_sentence(kind: type[PamError]) -> str:
    words = " ".join((kind.__doc__ or "").split())
    sentence = words.partition(". ")[0].partition("; ``")[0].rstrip(".;")
    return sentence[:1].lower() + sentence[1:]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def _row(key: Key) -> str:
    default = f"`{toml(key)}`" if key.default is not None else "-"
    limits = f"{_number(key.low)} to {_number(key.high)}" if key.low is not None and key.high is not None else "-"
    env = f" Environment: `{key.env}`." if key.env else ""
    return f"| `{key.name}` | {default} | {limits} | {key.meaning}{env} |"

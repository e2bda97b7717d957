"""The root of the command line, and what becomes of an error.

``run`` is the one way in: it turns every outcome into an exit code of ``docs/exit-codes.md`` and a sentence.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from typing import Any, NoReturn

import click
from click.exceptions import Exit, NoArgsIsHelpError

from app.cli import output
from app.cli.call import Call
from app.cli.declare import Group
from store.errors import PamError, UsageError

INTERRUPTED = 130

COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("app.cli.init:init", "Make the home and a commented config.toml."),
    "project": ("app.cli.project:project", "Projects: bodies of work with a board."),
    "task": ("app.cli.task:task", "Work items: milestones, epics, tasks and subtasks."),
    "run": ("app.cli.run:run", "Runs: agents at work in tmux sessions."),
    "host": ("app.cli.host:host", "Machines that run sessions."),
    "provider": ("app.cli.provider:provider", "The agent CLIs that pam knows."),
    "events": ("app.cli.events:events", "The journal: what happened, and who did it."),
    "status": ("app.cli.status:status", "Show executor, hosts, runs by status, and which agents wait for you."),
    "doctor": ("app.cli.doctor:doctor", "Check store, home, settings, catalog, tmux, executor and providers."),
    "up": ("app.cli.up:up", "Be the executor of this home, until interrupted."),
    "down": ("app.cli.down:down", "Stop the executor and wait until it is gone; agents go on."),
    "config": ("app.cli.config:config", "Settings: show them, change one."),
    "migrate": ("app.cli.migrate:migrate", "Bring the database to this pam's schema."),
    "signal": ("app.cli.signal:signal", "Say something about a run: started, finished, completed, failed or progress."),
    "demo": ("app.cli.demo:demo", ""),
    "docs": ("app.cli.reference:docs", ""),
}
"""Every noun: where it is, and its line in the help; hidden ones have none."""


class Root(Group):
    """``pam`` itself."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> NoReturn:
        """What click's own runners call; the same way in."""
        sys.exit(run(args))


def _open_control_room(call: Call) -> int:
    if not (output.is_terminal(sys.stdin) and output.is_terminal(sys.stdout)):
        raise UsageError("The control room needs a terminal. Here, `pam -h` lists what else there is.")
    from app.logs import start_log
    from app.room import open_room

    settings = call.settings
    with suppress(OSError):
        start_log(call.home, call.environ, secrets=call.secrets)
    call.store  # noqa: B018 - makes a home that is not there yet
    call.close()
    return open_room(settings)


@click.command("pam", cls=Root, lazy=COMMANDS, invoke_without_command=True)
@click.pass_context
def root(context: click.Context) -> int:
    """A control room for coding agents: a board of work over live tmux sessions.

    Alone, it opens the control room.
    """
    return _open_control_room(context.obj) if context.invoked_subcommand is None else 0


def run(argv: Sequence[str] | None = None) -> int:
    """Carry out one command line; its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="backslashreplace")
    with closing(Call(os.environ)) as call:
        try:
            code = _carry_out(arguments, call)
            sys.stdout.flush()
        except BrokenPipeError:
            # Whoever read has seen enough. What is left in the buffer goes nowhere, quietly.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return code


def _carry_out(arguments: list[str], call: Call) -> int:
    wants_json = "--json" in (arguments[: arguments.index("--")] if "--" in arguments else arguments)
    try:
        return _invoke(arguments, call)
    except Exit as left:
        return left.exit_code
    except NoArgsIsHelpError as error:
        output.say(error.format_message())
        return error.exit_code
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "pam"
        return _tell(UsageError(error.format_message()), wants_json, hint=f"`{where} -h` shows how it is called.")
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except PamError as error:
        return _tell(error, wants_json)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - the border of the process: logged, and told in one sentence
        return _tell_unexpected(error, call, wants_json)


def _invoke(arguments: list[str], call: Call) -> int:
    if "_PAM_COMPLETE" in call.environ:
        from click.shell_completion import shell_complete

        return shell_complete(root, {"obj": call}, "pam", "_PAM_COMPLETE", call.environ["_PAM_COMPLETE"])
    _refuse_broken_text(arguments)
    with root.make_context("pam", arguments, obj=call) as context:
        code = root.invoke(context)
    return code if isinstance(code, int) else 0


def _refuse_broken_text(arguments: list[str]) -> None:
    for word in arguments:
        if not word.isascii() and any("\udc80" <= char <= "\udcff" for char in word):
            raise UsageError(f"The argument {word!a} is not valid UTF-8.")


def _tell(error: PamError, wants_json: bool, *, hint: str = "") -> int:
    if wants_json:
        output.put_json({"error": error.as_json()})
    output.say(f"{error.message} {hint}".strip())
    return error.exit_code


def _tell_unexpected(error: Exception, call: Call, wants_json: bool) -> int:
    import logging

    from app.logs import start_log

    where = "it could not be logged, too"
    with suppress(OSError, PamError):
        start_log(call.home, call.environ)
        logging.getLogger("pam").error("pam failed", exc_info=error)
        where = f"the details are in {call.home.log}"
    sentence = f"pam failed in a way it does not know ({type(error).__name__}: {error}); {where}."
    if wants_json:
        output.put_json({"error": {"code": "internal", "message": sentence, "details": {}}})
    output.say(sentence)
    return 1

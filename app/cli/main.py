"""The root of the command line, and what becomes of an error.

``run`` is the one way in: it turns every outcome into an exit code of ``docs/exit-codes.md`` and a sentence.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
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
    "search": ("app.cli.search:search", "Find projects, tasks and runs that hold every word of TEXT."),
    "status": ("app.cli.status:status", "Show executor, hosts, runs by status, and which agents wait for you."),
    "doctor": ("app.cli.doctor:doctor", "Check home, store, settings, tmux, executor, spool, logs and providers."),
    "reconcile": (
        "app.cli.reconcile:reconcile",
        "Compare runs with the sessions and agents that live, and put right what differs.",
    ),
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
        start_log(call.home, call.environ, settings=settings.log, secrets=call.secrets)
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
    _ready_streams()
    with closing(Call(os.environ)) as call:
        return _delivered(_carry_out(arguments, call))


def _ready_streams() -> None:
    """Streams that take any text. In place of one that the caller has closed there is one that leads nowhere.

    Otherwise the next file opened, the database for instance, would be what others take for standard output.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - until the end
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="backslashreplace")


def _delivered(code: int) -> int:
    """The exit code, once the answer is out. A reader who left early has seen enough: the code stays what it is."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # What is left in the buffer goes nowhere, quietly.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            output.say(f"The answer could not be written: {error.strerror}.")
            return code or 1
    return code


def _carry_out(arguments: list[str], call: Call) -> int:
    wants_json = "--json" in (arguments[: arguments.index("--")] if "--" in arguments else arguments)
    try:
        return _invoke(arguments, call)
    except Exit as left:
        return left.exit_code
    except NoArgsIsHelpError as error:
        return _tell_verbs(error, wants_json)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "pam"
        return _tell(UsageError(error.format_message()), wants_json, hint=f"`{where} -h` shows how it is called.")
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except PamError as error:
        return _tell(error, wants_json)
    except BrokenPipeError:
        return 0
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


def _tell_verbs(error: NoArgsIsHelpError, wants_json: bool) -> int:
    """A noun without a verb is a usage error; people are shown the noun's help."""
    if wants_json:
        where = error.ctx.command_path if error.ctx else "pam"
        _put_error(UsageError(f"`{where}` needs a verb; `{where} -h` lists them.").as_json())
    output.say(error.format_message())
    return error.exit_code


def _tell(error: PamError, wants_json: bool, *, hint: str = "") -> int:
    if wants_json:
        _put_error(error.as_json())
    output.say(f"{error.message} {hint}".strip())
    return error.exit_code


def _put_error(error: Mapping[str, object]) -> None:
    """Where stdout takes nothing, the sentence on stderr and the exit code still tell."""
    with suppress(OSError):
        output.put_json({"error": error})


def _tell_unexpected(error: Exception, call: Call, wants_json: bool) -> int:
    import logging

    from app.logs import start_log
    from store.redaction import Redactor

    where = "it could not be logged, too"
    with suppress(OSError, PamError):
        start_log(call.home, call.environ)
        logging.getLogger("pam").error("pam failed", exc_info=error)
        where = f"the details are in {call.home.log}"
    what = Redactor(call.environ)(f"{type(error).__name__}: {error}")
    sentence = f"pam failed in a way it does not know ({what}); {where}."
    if wants_json:
        _put_error({"code": "internal", "message": sentence, "details": {}})
    output.say(sentence)
    return 1

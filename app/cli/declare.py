"""How commands are declared: groups that load a noun's module only when it is called, and flags that stand anywhere.

``--json``, ``--config``, ``--home``, ``-h`` and ``-V`` are options of every command, shown in the help of ``pam`` only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeVar

import click

_F = TypeVar("_F", bound=Callable[..., object])

GLOBAL_EPILOG = "Global flags, before or after the verb: --json, --config PATH, --home PATH, -V; see `pam -h`."


class Option(click.Option):
    """Takes its help as it is; click would load ``inspect`` to tidy up what is tidy."""

    def __init__(self, *args: Any, help: str | None = None, **attrs: Any) -> None:  # noqa: A002 - click's name
        super().__init__(*args, **attrs)
        self.help = help


def option(*declarations: str, **attrs: Any) -> Callable[[_F], _F]:
    """``click.option`` with our class."""
    return click.option(*declarations, cls=Option, **attrs)


def argument(*declarations: str, **attrs: Any) -> Callable[[_F], _F]:
    """``click.argument``; here so that a command's module names one place only."""
    return click.argument(*declarations, **attrs)


def _note_json(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        context.obj.json = True


def _note_home(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.obj.home_named = value


def _note_config(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.obj.config_named = value


def _tell_help(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from app.cli import output

        output.put(context.get_help())
        context.exit()


def _tell_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from importlib.metadata import version

        context.obj.emit({"version": version("project-agent-manager")}, f"pam {version('project-agent-manager')}")
        context.exit()


def _global_options(*, hidden: bool) -> list[click.Parameter]:
    return [
        Option(
            ["--json"],
            is_flag=True,
            is_eager=True,
            hidden=hidden,
            expose_value=False,
            callback=_note_json,
            help="Answer with exactly one JSON object on stdout.",
        ),
        Option(
            ["--config"],
            metavar="PATH",
            is_eager=True,
            hidden=hidden,
            expose_value=False,
            callback=_note_config,
            help="The config.toml to use, before PAM_CONFIG and the home's own.",
        ),
        Option(
            ["--home"],
            metavar="PATH",
            is_eager=True,
            hidden=hidden,
            expose_value=False,
            callback=_note_home,
            help="The home to use, before PAM_HOME and the platform's data directory.",
        ),
        Option(
            ["-V", "--version"],
            is_flag=True,
            hidden=hidden,
            expose_value=False,
            callback=_tell_version,
            help="Show the version and exit.",
        ),
        # Not click's own, which loads `inspect`.
        Option(
            ["-h", "--help"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_tell_help,
            help="Show this message and exit.",
        ),
    ]


_SHOWN, _HIDDEN = _global_options(hidden=False), _global_options(hidden=True)


class Command(click.Command):
    """A command that takes the global flags, too."""

    def __init__(self, name: str | None, prints: str = "", **attrs: Any) -> None:
        """``prints`` is the shape of the answer with ``--json``."""
        super().__init__(name, add_help_option=False, **attrs)
        self.prints = prints

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), *_HIDDEN]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        if self.prints:
            formatter.write_paragraph()
            formatter.write_text(f"With --json it prints {self.prints}.")
        _write_epilog(formatter)


class Group(click.Group):
    """A noun with its verbs."""

    command_class = Command

    def __init__(self, name: str | None, lazy: Mapping[str, tuple[str, str]] | None = None, **attrs: Any) -> None:
        """``lazy`` maps names to ``module:attribute`` and the short help, which is empty for hidden ones."""
        super().__init__(name, add_help_option=False, **attrs)
        self.lazy = lazy or {}

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), *(_SHOWN if ctx.parent is None else _HIDDEN)]

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return [*self.commands, *self.lazy]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self.lazy[cmd_name][0].partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args[0] not in names and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(_no_such(ctx.command_path, args[0], names), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        rows = [(name, command.get_short_help_str(200)) for name, command in self.commands.items()]
        rows += [(name, help_) for name, (_, help_) in self.lazy.items() if help_]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if ctx.parent is not None:
            _write_epilog(formatter)


def command(name: str, **attrs: Any) -> Callable[[Callable[..., object]], Command]:
    """A command that is a noun of its own."""
    return click.command(name, cls=Command, **attrs)


def group(name: str, **attrs: Any) -> Callable[[Callable[..., object]], Group]:
    """A noun."""
    return click.group(name, cls=Group, **attrs)


def choice(values: Sequence[str]) -> click.Choice[str]:
    """One of the words."""
    return click.Choice(values)


def _write_epilog(formatter: click.HelpFormatter) -> None:
    formatter.write_paragraph()
    formatter.write_text(GLOBAL_EPILOG)


def _no_such(where: str, word: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, names, n=1)
    return f"`{where}` has no {word!r}" + (f"; did you mean {near[0]!r}?" if near else f". It has: {', '.join(names)}.")

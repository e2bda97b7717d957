"""What must hold between the keys of a catalog entry, beyond the type of each."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

from providers import template, versions
from providers.provider import Provider
from providers.section import Section

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUIT_KEY = re.compile(r"C-[a-z]|Enter|Escape")
_ANSWER_KEY = re.compile(r"Enter|Escape|Tab|Space|Up|Down|Left|Right|[ -~]")


def check_name(entry: Section, name: str, catalog: Mapping[str, object]) -> None:
    """Raise a ConfigError for a name that cannot be, or that looks like a slip: it is near another and has no argv."""
    if not _NAME.fullmatch(name):
        raise entry.fault("a provider's name is a small letter, then small letters, digits, '-' or '_', 32 at most.")
    near = difflib.get_close_matches(name, [other for other in catalog if other != name], n=1, cutoff=0.75)
    if near and not entry.has("argv"):
        raise entry.fault(f"there is no provider '{name}' to change; did you mean [{near[0]}]? A new one needs 'argv'.")


def check(entry: Section, provider: Provider) -> None:
    """Raise a ConfigError at the line of the first key that breaks a rule."""
    _check_program(entry, provider)
    _check_placeholders(entry, provider, "argv", template.strings(provider.argv))
    _check_placeholders(entry, provider, "conversation", template.strings(provider.conversation.resume))
    _check_environment(entry, provider)
    _check_gateway(entry, provider)
    _check_prompt(entry, provider)
    _check_conversation(entry, provider)
    if not versions.is_range(provider.versions):
        raise entry.fault(f"'versions' is '{provider.versions}'; write it as \">=2.1, <3\".", "versions")
    try:
        re.compile(provider.asks_title)
    except re.error as error:
        raise entry.fault(f"'asks_title' is no regular expression: {error}.", "asks_title") from None
    for key in provider.quit_keys:
        if not _QUIT_KEY.fullmatch(key):
            raise entry.fault(
                f"'quit_keys' has '{key}'; it may hold C-c, C-d and the like, Enter and Escape.", "quit_keys"
            )
    _check_answers(entry, provider)


def _check_answers(entry: Section, provider: Provider) -> None:
    answers = provider.answers
    for name, keys in (("yes", answers.yes), ("always", answers.always), ("no", answers.no)):
        for key in keys:
            if not _ANSWER_KEY.fullmatch(key):
                known = "Enter, Escape, Tab, Space, Up, Down, Left, Right and single characters"
                raise entry.fault(f"'answers.{name}' has '{key}'; it may hold {known}.", "answers", name)


def _check_program(entry: Section, provider: Provider) -> None:
    program = provider.bin
    if not isinstance(provider.argv[0], str):
        raise entry.fault("'argv' must begin with the program, not with a group.", "argv")
    if program is None and template.mentions(provider.argv, "bin"):
        raise entry.fault("'bin' is missing: 'argv' has {bin}.", "bin")
    if program and "/" in program and not program.startswith(("/", "~/")):
        raise entry.fault(f"'bin' is '{program}'; give a name to look up on the PATH, or an absolute path.", "bin")


def _check_placeholders(entry: Section, provider: Provider, key: str, texts: Iterable[str]) -> None:
    known = (*template.SINGLE, *template.SEVERAL)
    for text in texts:
        for name in template.placeholders(text):
            variable = name.removeprefix(template.ENV_PREFIX)
            if name in ("api_key", "gateway_key") or variable in provider.keys:
                raise entry.fault(
                    f"'{key}' has {{{name}}}: a key travels by environment, never on a command line.", key
                )
            if name not in known and variable == name:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"did you mean {{{near[0]}}}?" if near else f"there are {', '.join(known)} and env:NAME."
                raise entry.fault(f"'{key}' has {{{name}}}; {hint}", key)
            if name in template.SEVERAL and text != f"{{{name}}}":
                raise entry.fault(f"'{key}' has {{{name}}} inside '{text}'; it must stand alone.", key)


def _check_environment(entry: Section, provider: Provider) -> None:
    for name, value in provider.env.items():
        for placeholder in template.placeholders(value):
            if placeholder not in template.SINGLE and not placeholder.startswith(template.ENV_PREFIX):
                raise entry.fault(
                    f"'env.{name}' has {{{placeholder}}}, which is no placeholder of a value.", "env", name
                )
    for key, names in (("env", provider.env), ("keys", provider.keys), ("unset", provider.unset)):
        for name in names:
            if not _VARIABLE.fullmatch(name):
                raise entry.fault(f"'{key}' has '{name}', which is no name of a variable.", key, name)


def _check_gateway(entry: Section, provider: Provider) -> None:
    use = provider.gateway
    known = (*template.GATEWAY, "model")
    for name, value in use.env.items():
        if not _VARIABLE.fullmatch(name):
            raise entry.fault(f"'gateway.env' has '{name}', which is no name of a variable.", "gateway", "env", name)
        for placeholder in template.placeholders(value):
            if placeholder not in known:
                raise entry.fault(
                    f"'gateway.env.{name}' has {{{placeholder}}}; there are {', '.join(known)}.", "gateway", "env", name
                )
    for path, text in provider.smoke.files.items():
        if path.startswith("/") or ".." in path.split("/"):
            raise entry.fault(f"'smoke.files' has '{path}', which is no path below a home.", "smoke", "files", path)
        for placeholder in template.placeholders(text):
            if placeholder not in (*known, "cwd"):
                raise entry.fault(f"'smoke.files' has {{{placeholder}}}, which nothing fills.", "smoke", "files", path)
    for text in template.strings(use.args):
        for placeholder in template.placeholders(text):
            if placeholder == "gateway_key":
                raise entry.fault(
                    "'gateway.args' has {gateway_key}: a key travels by environment, never on a command line.",
                    "gateway",
                    "args",
                )
            if placeholder not in known:
                raise entry.fault(
                    f"'gateway.args' has {{{placeholder}}}; there are {', '.join(known)}.", "gateway", "args"
                )


def _check_prompt(entry: Section, provider: Provider) -> None:
    given = template.mentions(provider.argv, "prompt")
    if provider.prompt == "argv" and not given:
        raise entry.fault(
            "'prompt' is \"argv\", but 'argv' has no {prompt}: the task would never reach the agent.", "argv"
        )
    if provider.prompt != "argv" and given:
        raise entry.fault(f"'argv' has {{prompt}}, but 'prompt' is \"{provider.prompt}\".", "prompt")


def _check_conversation(entry: Section, provider: Provider) -> None:
    conversation = provider.conversation
    if conversation.id == "chosen" and not template.mentions(provider.argv, "conversation_id"):
        raise entry.fault("'conversation.id' is \"chosen\", but 'argv' has no {conversation_id}.", "conversation", "id")
    if conversation.id != "none" and not template.mentions(conversation.resume, "conversation_id"):
        raise entry.fault("'conversation.resume' must name {conversation_id}.", "conversation", "resume")

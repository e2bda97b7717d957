"""The catalog: what ships, how the operator's file goes over it, and what is said about a fault in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from providers import template, versions
from providers.catalog import Catalog, load, operator_path
from providers.recipes.registry import recipe
from store.errors import ConfigError, ProviderUnavailable

HEADLESS = {
    "claude": {"-p", "--print", "--bg", "--bare", "--output-format", "--input-format"},
    "codex": {"exec", "e", "review", "mcp", "--json"},
    "gemini": {"-p", "--prompt", "-o", "--output-format"},
    "opencode": {"run", "serve", "acp"},
    "kimi": {"-p", "--prompt", "--print"},
    "qwen": {"-p", "--prompt", "{prompt}"},
    "copilot": {"-p", "--prompt", "-s"},
    "aider": {"-m", "--message", "--message-file"},
    "grok": {"-p", "--prompt"},
}


def catalog_of(home: Path, text: str) -> Catalog:
    operator_path(home).write_text(text, encoding="utf-8")
    return load(home)


def test_the_shipped_catalog_is_valid_without_an_operators_file(tmp_path: Path) -> None:
    assert load(tmp_path).names() == ["demo", "shell", *HEADLESS]


@pytest.mark.parametrize("name", ["demo", "shell", *HEADLESS])
def test_every_shipped_entry_is_interactive(tmp_path: Path, name: str) -> None:
    """X-38: headless forms are excluded; the prompt reaches the CLI by a route that keeps its terminal."""
    provider = load(tmp_path).get(name)
    words = {*template.strings(provider.argv), *template.strings(provider.conversation.resume)}
    words |= {word for mode in provider.approvals.values() for word in mode}
    assert not words & HEADLESS.get(name, set())
    assert template.mentions(provider.argv, "prompt") is (provider.prompt == "argv")


def test_hooks_are_on_only_with_a_version_that_proved_them(tmp_path: Path) -> None:
    """PAM-PROV-010, 013."""
    proven = [provider for provider in load(tmp_path).providers.values() if provider.hooks.proven]
    assert "claude" in [provider.name for provider in proven]
    for provider in proven:
        assert recipe(provider.hooks.recipe) is not None
        assert provider.hooks.proven_with
        assert versions.within(provider.hooks.proven_with, provider.versions)


def test_an_override_changes_its_keys_and_keeps_the_rest(tmp_path: Path) -> None:
    """PAM-PROV-014: argv, versions and environment change without a release of pam."""
    shipped = load(tmp_path).get("claude")
    changed = catalog_of(
        tmp_path, '[claude]\nbin = "/opt/claude"\n[claude.env]\nEXTRA = "1"\n[claude.restart]\nmax_attempts = 5\n'
    )
    claude = changed.get("claude")
    assert (claude.bin, claude.max_attempts) == ("/opt/claude", 5)
    assert claude.env == {**shipped.env, "EXTRA": "1"}
    assert (claude.argv, claude.approvals, claude.versions) == (shipped.argv, shipped.approvals, shipped.versions)
    assert changed.get("demo") == load(tmp_path / "none").get("demo")


def test_the_operator_adds_a_provider_of_their_own(tmp_path: Path) -> None:
    text = (
        '[mine]\ntitle = "Mine"\nbin = "mine"\nargv = ["{bin}", ["{prompt}"]]\nprompt = "argv"\ntui_type = "raw_mode"\n'
    )
    mine = catalog_of(tmp_path, text).get("mine")
    assert (mine.argv, mine.completion_signals) == (("{bin}", ("{prompt}",)), ("exit_code",))


def test_a_catalog_elsewhere_is_read_instead(tmp_path: Path) -> None:
    """PAM-PROV-007."""
    elsewhere = tmp_path / "dotfiles" / "agents.toml"
    elsewhere.parent.mkdir()
    elsewhere.write_text('[demo]\ntitle = "Elsewhere"\n')
    operator_path(tmp_path).write_text('[demo]\ntitle = "At home"\n')
    assert load(tmp_path, operator_file=elsewhere).get("demo").title == "Elsewhere"


def test_an_unknown_provider_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ProviderUnavailable, match="no provider 'cluade'; known are: demo, shell, claude, codex"):
        load(tmp_path).get("cluade")


def test_a_provider_switched_off_is_refused_and_not_offered(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path, "[codex]\nenabled = false\n")
    assert "codex" not in catalog.names()
    with pytest.raises(ProviderUnavailable, match="switched off"):
        catalog.get("codex")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("[claude]\n\nargvs = []\n", 3, "'argvs' is not a key here; did you mean 'argv'?"),
        ("[claude.hooks]\nprovn = true\n", 2, "[claude.hooks] 'provn' is not a key here; did you mean 'proven'?"),
        ('# mine\n[claud]\nbin = "x"\n', 2, "did you mean [claude]?"),
        ('[mine]\ntitle = "Mine"\n', 1, "'argv' is missing"),
        ('[Mine]\nargv = ["x"]\n', 1, "a provider's name is"),
        ("claude = 1\n", 1, "'claude' must be a table"),
        ("[claude]\nhooks = 3\n", 2, "'hooks' must be a table"),
        ("[claude]\ntitle = 3\n", 2, "'title' must be a string"),
        ('[claude]\nenabled = "no"\n', 2, "'enabled' must be true or false"),
        ("[claude]\nkeys = [\n  1,\n]\n", 2, "'keys' must hold strings only"),
        ('[claude]\nargv = "claude"\n', 2, "'argv' must be a list of arguments"),
        ('[claude]\nargv = [["{bin}"], "{prompt}"]\n', 2, "must begin with the program"),
        ('[claude]\nargv = ["{bin}", "{promt}"]\n', 2, "has {promt}; did you mean {prompt}?"),
        ('[claude]\nargv = ["{bin}", "-a={args}", "{prompt}"]\n', 2, "it must stand alone"),
        ('[claude]\nargv = ["{bin}", "--key={api_key}", "{prompt}"]\n', 2, "never on a command line"),
        ('[claude]\nargv = ["{bin}", "{env:ANTHROPIC_API_KEY}", "{prompt}"]\n', 2, "never on a command line"),
        ('[claude]\nargv = ["{bin}", "{conversation_id}"]\n', 2, "the task would never reach the agent"),
        ('[claude]\nprompt = "past"\n', 2, "'prompt' is 'past'; it must be one of argv, paste, none"),
        ('[claude]\nprompt = "paste"\n', 2, "'argv' has {prompt}, but 'prompt' is \"paste\""),
        ('[claude]\nbin = "bin/claude"\n', 2, "an absolute path"),
        ('[claude]\nbin = ""\n', 2, "'bin' is missing"),
        ('[claude.env]\n"A-B" = "1"\n', 2, "no name of a variable"),
        ('[claude.env]\nA = "{args}"\n', 2, "no placeholder of a value"),
        ('[claude.conversation]\nresume = ["{bin}"]\n', 2, "must name {conversation_id}"),
        ('[claude]\nversions = "~2"\n', 2, 'write it as ">=2.1, <3"'),
        ('[claude]\nquit_keys = ["/exit"]\n', 2, "'quit_keys' has '/exit'"),
        ("[claude]\nrestart.max_attempts = 0\n", 2, "a whole number, 1 or more"),
        ('[claude]\ncompletion_signals = ["screen"]\n', 2, "it may hold native_hook, exit_code, idle_detection"),
    ],
)
def test_a_fault_is_named_with_its_file_and_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    """The operator of a catalog with a typo is told where it is."""
    with pytest.raises(ConfigError) as caught:
        catalog_of(tmp_path, text)
    assert says in str(caught.value)
    assert caught.value.details == {"path": str(operator_path(tmp_path)), "line": line}
    assert str(caught.value).startswith(f"{operator_path(tmp_path)}:{line}: ")


def test_a_file_that_is_not_utf8_is_a_fault_with_its_line(tmp_path: Path) -> None:
    operator_path(tmp_path).write_bytes(b'[demo]\ntitle = "d\xe9mo"\n')
    with pytest.raises(ConfigError, match=r"providers\.toml:2: this line is not UTF-8"):
        load(tmp_path)


def test_a_file_that_cannot_be_read_is_said_to_be(tmp_path: Path) -> None:
    operator_path(tmp_path).mkdir()
    with pytest.raises(ConfigError, match=r"providers\.toml cannot be read: Is a directory"):
        load(tmp_path)

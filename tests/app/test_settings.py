"""Settings: precedence, sources, and what the executor is given."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

import themes
from app.config_keys import KEYS
from app.settings import load
from executor.settings import ExecutorSettings
from providers.gateway import Gateway
from store.errors import ConfigError, InvalidValue
from store.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home whose config.toml the test writes."""
    made = Home(tmp_path / "home")
    made.make()
    return made


def test_an_empty_home_has_the_defaults(home: Home) -> None:
    """PAM-CFG-003, 012 to 028: the executor's own defaults are the defaults."""
    settings = load(home, None, {})
    assert settings.executor == ExecutorSettings()
    assert (settings.events_days, settings.auto_mark_done, settings.executor.unproven_hooks) == (30, False, False)
    assert settings.catalog_path == home.providers
    assert (settings.gateway_url, settings.gateway_api_key, settings.default_provider) == (None, None, None)
    assert settings.theme == themes.DEFAULT_THEME
    assert settings.keys == {}
    assert set(settings.sources.values()) == {"default"}
    assert set(settings.sources) == {key.dotted for key in KEYS}


def test_the_file_sets_values(home: Home) -> None:
    home.config.write_text(
        '[tmux]\nsocket = "mine"\nbin = "/opt/tmux"\n[executor]\ngrace_s = 3\nliveness_s = 0.5\n'
        '[retention]\nevents_days = 7\n[work]\nauto_mark_done = true\n[providers]\ndefault = "codex"\nhooks = true\n'
        '[ui]\ntheme = "nord"\n[keys]\nhelp = "f1"\n'
    )
    settings = load(home, None, {})
    assert (settings.executor.tmux_socket, settings.executor.tmux_bin) == ("mine", "/opt/tmux")
    assert (settings.executor.grace_s, settings.executor.liveness_s) == (3.0, 0.5)
    assert isinstance(settings.executor.grace_s, float)
    assert (settings.events_days, settings.auto_mark_done, settings.executor.unproven_hooks) == (7, True, True)
    assert (settings.default_provider, settings.theme, settings.keys) == ("codex", "nord", {"help": "f1"})
    assert settings.sources["executor.grace_s"] == "file"
    assert settings.sources["executor.reconcile_s"] == "default"


def test_a_flag_counts_before_the_file_and_the_file_before_the_environment(home: Home) -> None:
    """PAM-CFG-006, PAM-CFG-011, PAM-GW-002."""
    environ = {"PAM_GATEWAY_URL": "https://env.example", "PAM_GATEWAY_API_KEY": "from-env"}
    flags = {"gateway.url": "https://flag.example", "tmux.rows": "44"}
    seen = [load(home, None, {}), load(home, None, environ)]
    home.config.write_text('[gateway]\nurl = "https://file.example/v1/"\n')
    seen += [load(home, None, environ), load(home, None, environ, flags)]
    assert [(each.gateway_url, each.sources["gateway.url"]) for each in seen] == [
        (None, "default"),
        ("https://env.example", "environment"),
        ("https://file.example/v1", "file"),
        ("https://flag.example", "flag"),
    ]
    assert [each.gateway_api_key for each in seen] == [None, "from-env", "from-env", "from-env"]
    assert seen[-1].executor.rows == 44


def test_the_key_of_the_gateway_is_in_no_repr(home: Home) -> None:
    """PAM-SEC-002."""
    assert "top-secret" not in repr(load(home, None, {"PAM_GATEWAY_API_KEY": "top-secret"}))


def test_where_the_file_is(home: Home, tmp_path: Path) -> None:
    """PAM-CFG-007: flag, then PAM_CONFIG, then the home; a named file must exist."""
    one, two = tmp_path / "one.toml", tmp_path / "two.toml"
    one.write_text("[tmux]\nrows = 11\n")
    two.write_text("[tmux]\nrows = 22\n")
    home.config.write_text("[tmux]\nrows = 33\n")
    environ = {"PAM_CONFIG": str(two)}
    paths = [load(home, one, environ), load(home, None, environ), load(home, None, {})]
    assert [each.executor.rows for each in paths] == [11, 22, 33]
    assert [each.config_path for each in paths] == [one, two, home.config]
    for named, variables in ((tmp_path / "no.toml", {}), (None, {"PAM_CONFIG": str(tmp_path / "no.toml")})):
        with pytest.raises(ConfigError, match="There is no file"):
            load(home, named, variables)


def test_a_relative_catalog_counts_from_the_file_that_names_it(home: Home, tmp_path: Path) -> None:
    """PAM-CFG-002."""
    config = tmp_path / "conf" / "pam.toml"
    config.parent.mkdir()
    config.write_text('[providers]\ncatalog_path = "mine.toml"\n')
    assert load(home, config, {}).catalog_path == tmp_path / "conf" / "mine.toml"
    config.write_text('[providers]\ncatalog_path = "/abs/mine.toml"\n')
    assert load(home, config, {}).catalog_path == Path("/abs/mine.toml")


def test_a_bad_variable_or_flag_is_named(home: Home) -> None:
    with pytest.raises(ConfigError, match="PAM_GATEWAY_URL"):
        load(home, None, {"PAM_GATEWAY_URL": "gateway.example"})
    with pytest.raises(InvalidValue, match="whole number"):
        load(home, None, {}, {"tmux.rows": "many"})


def test_every_field_of_the_executor_that_a_key_sets_exists() -> None:
    names = {field.name for field in fields(ExecutorSettings)}
    for key in KEYS:
        if key.section in ("tmux", "executor"):
            assert key.name in names or f"tmux_{key.name}" in names


def test_the_executor_is_given_gateway_and_key_command(home: Home) -> None:
    """PAM-GW-001: config.toml, not the catalog."""
    home.config.write_text(
        '[gateway]\nurl = "https://g.example/"\nproviders = "claude, codex"\n'
        "[secrets]\ncommand = \"pass show 'pam keys/{name}'\"\n"
    )
    executor = load(home, None, {"PAM_GATEWAY_API_KEY": "key-of-the-gateway"}).executor
    assert executor.gateway == Gateway("https://g.example", "key-of-the-gateway", ("claude", "codex"))
    assert executor.key_command == ("pass", "show", "pam keys/{name}")
    assert "key-of-the-gateway" not in repr(executor)
    home.config.write_text("")
    assert load(home, None, {"PAM_GATEWAY_API_KEY": "key-of-the-gateway"}).executor.gateway is None

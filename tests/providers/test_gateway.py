"""Agents are led through the operator's gateway (PAM-GW)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from providers.catalog import load
from providers.gateway import Gateway
from providers.launch import LaunchPlan, agent_env, plan
from store.errors import ConfigError, InvalidValue

OWN = "sk-ant-api03-operators-own-key"
KEY = "gateway-key-0123456789"
GATEWAY = Gateway("https://gateway.example/llm", KEY)


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A PATH with programs named as the catalog names them, and the operator's own settings of two providers."""
    for name in ("claude", "codex", "tool"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    return {
        "PATH": str(tmp_path),
        "ANTHROPIC_BASE_URL": "https://own.example",
        "ANTHROPIC_API_KEY": OWN,
        "OPENAI_BASE_URL": "https://own.example/v1",
        "OPENAI_API_KEY": OWN,
    }


def planned(
    home: Path, name: str, environ: Mapping[str, str], gateway: Gateway | None, **more: str | bool | None
) -> LaunchPlan:
    given: dict[str, str | bool | None] = {"prompt": "go", "model": None, "conversation_id": None, **more}
    return plan(
        load(home).get(name),
        run_id="0d5b2f6f-0000-4000-8000-000000000000",
        args=(),
        cwd=home,
        environ=environ,
        gateway=gateway,
        **given,  # type: ignore[arg-type] # what a test names
    )


@pytest.mark.parametrize(
    "url", ["https://g.example", "https://g.example/", "https://g.example/v1", "https://g.example/v1//"]
)
def test_a_url_is_normalised(url: str) -> None:
    """PAM-GW-003; a URL that ends in /v1 already is as good."""
    assert (Gateway(url).root, Gateway(url).v1) == ("https://g.example", "https://g.example/v1")


def test_the_gateway_counts_before_the_operators_own_variables(tmp_path: Path, environ: dict[str, str]) -> None:
    """PAM-GW-002; a key of the operator's own is shown to no gateway that has one."""
    claude = planned(tmp_path, "claude", environ, GATEWAY)
    assert claude.env["ANTHROPIC_BASE_URL"] == "https://gateway.example/llm"
    assert claude.env["ANTHROPIC_AUTH_TOKEN"] == KEY
    assert "ANTHROPIC_API_KEY" not in claude.env
    assert "ANTHROPIC_API_KEY" in claude.unset
    codex = planned(tmp_path, "codex", environ, GATEWAY)
    assert (codex.env["OPENAI_BASE_URL"], codex.env["OPENAI_API_KEY"]) == ("https://gateway.example/llm/v1", KEY)


def test_without_a_gateway_the_operators_own_variables_count(tmp_path: Path, environ: dict[str, str]) -> None:
    claude = planned(tmp_path, "claude", environ, None)
    assert (claude.env["ANTHROPIC_BASE_URL"], claude.env["ANTHROPIC_API_KEY"]) == ("https://own.example", OWN)
    assert "model_provider" not in " ".join(planned(tmp_path, "codex", environ, None).argv)


def test_a_gateway_without_a_key_is_given_the_operators(tmp_path: Path, environ: dict[str, str]) -> None:
    claude = planned(tmp_path, "claude", environ, Gateway("https://gateway.example"))
    assert (claude.env["ANTHROPIC_BASE_URL"], claude.env["ANTHROPIC_API_KEY"]) == ("https://gateway.example", OWN)


def test_codex_is_led_by_arguments_in_a_new_conversation_and_in_an_old_one(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    """They hold the URL and the name of the variable; never the key (PAM-SEC-003)."""
    for resume in (False, True):
        argv = planned(tmp_path, "codex", environ, GATEWAY, conversation_id="0199", resume=resume).argv
        (provider,) = [word for word in argv if word.startswith("model_providers.pam=")]
        assert 'base_url="https://gateway.example/llm/v1"' in provider
        assert 'env_key="OPENAI_API_KEY"' in provider
        assert KEY not in " ".join(argv)


def test_only_the_providers_named_are_led(tmp_path: Path, environ: dict[str, str]) -> None:
    some = Gateway("https://gateway.example", KEY, only=("codex",))
    assert planned(tmp_path, "claude", environ, some).env["ANTHROPIC_BASE_URL"] == "https://own.example"
    assert planned(tmp_path, "codex", environ, some).env["OPENAI_API_KEY"] == KEY


def test_a_provider_that_names_no_way_goes_its_own(tmp_path: Path, environ: dict[str, str]) -> None:
    shell = load(tmp_path).get("shell")
    assert not GATEWAY.leads(shell)
    assert agent_env(shell, environ, GATEWAY, None)["ANTHROPIC_API_KEY"] == OWN


def test_what_an_entry_sets_itself_counts_before_the_gateway(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "providers.toml").write_text('[claude.env]\nANTHROPIC_BASE_URL = "https://entry.example"\n')
    assert planned(tmp_path, "claude", environ, GATEWAY).env["ANTHROPIC_BASE_URL"] == "https://entry.example"


def test_proxies_pass(tmp_path: Path, environ: dict[str, str]) -> None:
    """PAM-GW-004."""
    proxies = {
        **dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"), "http://proxy.example:3128"),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,.example"),
    }
    env = planned(tmp_path, "claude", {**environ, **proxies}, GATEWAY).env
    assert {name: env[name] for name in proxies} == proxies


def test_pams_own_variables_of_the_gateway_reach_no_agent(tmp_path: Path, environ: dict[str, str]) -> None:
    pams = {"PAM_GATEWAY_URL": "https://gateway.example", "PAM_GATEWAY_API_KEY": KEY}
    assert not set(pams) & set(planned(tmp_path, "claude", {**environ, **pams}, None).env)


def test_a_key_in_a_prompt_is_refused(tmp_path: Path, environ: dict[str, str]) -> None:
    """PAM-SEC-003."""
    for key, name in ((KEY, "ANTHROPIC_AUTH_TOKEN"), (OWN, "ANTHROPIC_API_KEY")):
        with pytest.raises(InvalidValue, match=f"The value of {name} stands in the run's prompt") as caught:
            planned(tmp_path, "claude", environ, GATEWAY, prompt=f"use {key}")
        assert key not in str(caught.value)


def test_no_key_is_in_a_repr(tmp_path: Path, environ: dict[str, str]) -> None:
    assert KEY not in repr(GATEWAY)
    assert KEY not in repr(planned(tmp_path, "claude", environ, GATEWAY))


OTHER = """
[other]
title = "Other"
bin = "tool"
argv = ["{bin}", ["-m", "{model}"], ["--", "{prompt}"]]
prompt = "argv"
tui_type = "line_oriented"
"""


def test_an_agent_that_cannot_be_led_is_not_let_out(tmp_path: Path, environ: dict[str, str]) -> None:
    (tmp_path / "providers.toml").write_text(
        OTHER + '[other.gateway.env]\nBASE = "{gateway_url}|{gateway_key}"\nMODEL = "{model}"\n'
    )
    led = planned(tmp_path, "other", environ, GATEWAY).env
    assert led["BASE"] == f"https://gateway.example/llm|{KEY}"
    assert "MODEL" not in led
    with pytest.raises(InvalidValue, match=r"'other' cannot be led .* BASE needs gateway_key; set \[gateway\] api_key"):
        planned(tmp_path, "other", environ, Gateway("https://gateway.example"))


def test_a_command_line_without_a_place_for_the_arguments_is_refused(tmp_path: Path, environ: dict[str, str]) -> None:
    """As after an update, when the operator's own argv stands over the shipped one."""
    (tmp_path / "providers.toml").write_text('[codex]\nargv = ["{bin}", ["--", "{prompt}"]]\n')
    with pytest.raises(InvalidValue, match=r"its command line has no \{gateway\}"):
        planned(tmp_path, "codex", environ, GATEWAY)
    assert planned(tmp_path, "codex", environ, None).argv[1:] == ("--", "go")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ('[other.gateway]\nargs = ["--key={gateway_key}"]\n', 9, "never on a command line"),
        ('[other.gateway]\nargs = ["{cwd}"]\n', 9, "there are gateway_url"),
        ('[other.gateway.env]\nA = "{gateway}"\n', 9, "there are gateway_url"),
        ('[other.gateway.env]\n"A=B" = "x"\n', 9, "no name of a variable"),
        ('[other.gateway]\nurl = "x"\n', 9, "not a key here"),
        ('[other.env]\nA = "{gateway_key}"\n', 9, "no placeholder of a value"),
        ('[other.smoke.files]\n"../x" = ""\n', 9, "no path below a home"),
        ('[other.smoke.files]\n"x" = "{prompt}"\n', 9, "which nothing fills"),
    ],
)
def test_a_faulty_entry_is_told_with_its_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    (tmp_path / "providers.toml").write_text(OTHER + text)
    with pytest.raises(ConfigError, match=says) as caught:
        load(tmp_path)
    assert caught.value.details["line"] == line


def test_the_key_in_argv_is_refused_as_any_key(tmp_path: Path) -> None:
    (tmp_path / "providers.toml").write_text(
        '[claude]\nargv = ["{bin}", "{gateway_key}", "{prompt}", "{conversation_id}"]\n'
    )
    with pytest.raises(ConfigError, match="a key travels by environment"):
        load(tmp_path)

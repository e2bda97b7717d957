"""What an operator who has used an agent CLI before has in their home, as a table of files for each CLI.

The files answer the CLI's first-run questions and trust the directories that are named, and no other. Some CLIs learn
only from these files which model server to ask; they are given the stub's.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

DUMMY_KEY = "sk-ant-api03-" + "dummy" * 16

MODELS: Mapping[str, str] = {
    "claude": "claude-opus-5-5",
    "codex": "gpt-5.1",
    "gemini": "gemini-2.5-pro",
    "opencode": "stub/stub-model",
    "qwen": "stub-model",
    "copilot": "stub-model",
    "kimi": "stub",
}
"""What ``{model}`` is filled with in a test."""

Files = Mapping[str, str]
"""Texts by path below the home."""


def answer_first_run_questions(name: str, home: Path, *directories: Path, stub_url: str = "") -> None:
    """Write the home of an operator who has used the CLI ``name`` in these directories.

    ``stub_url`` is the model server of the CLIs that read it from their own file: codex, opencode and kimi.
    """
    trusted = [str(directory.resolve()) for directory in directories]
    for path, text in _HOMES[name](trusted, stub_url).items():
        file = home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def _claude(trusted: list[str], url: str) -> Files:
    answers = {
        "hasCompletedOnboarding": True,
        "projects": {directory: {"hasTrustDialogAccepted": True} for directory in trusted},
        "customApiKeyResponses": {"approved": [DUMMY_KEY[-20:]], "rejected": []},
    }
    return {".claude.json": json.dumps(answers)}


def _codex(trusted: list[str], url: str) -> Files:
    lines = ['model_provider = "stub"', "[model_providers.stub]", 'name = "stub"', f'base_url = "{url}/v1"']
    lines += ['wire_api = "responses"', 'env_key = "STUB_KEY"']
    for directory in trusted:
        lines += [f"[projects.{json.dumps(directory)}]", 'trust_level = "trusted"']
    return {".codex/config.toml": "\n".join((*lines, ""))}


def _gemini(trusted: list[str], url: str) -> Files:
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    folders = dict.fromkeys(trusted, "TRUST_FOLDER")
    return {".gemini/settings.json": json.dumps(settings), ".gemini/trustedFolders.json": json.dumps(folders)}


def _opencode(trusted: list[str], url: str) -> Files:
    model = {"name": "Stub Model", "limit": {"context": 200_000, "output": 8_000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Stub",
        "options": {"baseURL": f"{url}/v1", "apiKey": "dummy"},
        "models": {"stub-model": model},
    }
    config = {
        "autoupdate": False,
        "share": "disabled",
        "model": MODELS["opencode"],
        "small_model": MODELS["opencode"],
        "provider": {"stub": provider},
    }
    return {".config/opencode/opencode.json": json.dumps(config)}


def _qwen(trusted: list[str], url: str) -> Files:
    return {".qwen/settings.json": json.dumps({"security": {"auth": {"selectedType": "openai"}}})}


def _copilot(trusted: list[str], url: str) -> Files:
    folders = json.dumps({"trustedFolders": trusted})
    return {".copilot/config.json": folders, ".copilot/settings.json": folders}


def _kimi(trusted: list[str], url: str) -> Files:
    lines = ['default_model = "stub"', "[providers.stub]", 'type = "openai"', f'base_url = "{url}/v1"']
    lines += ['api_key = "dummy"', "[models.stub]", 'provider = "stub"', 'model = "stub-model"']
    lines += ["max_context_size = 200000"]
    config = {".kimi-code/config.toml": "\n".join((*lines, ""))}
    return config | {_kimi_trust_file(root): json.dumps({"root": root, "trustedAt": 1}) for root in trusted}


def _kimi_trust_file(root: str) -> str:
    """kimi names the file by the directory's name and a hash of its path."""
    slug = re.sub(r"[^a-z0-9._-]+", "-", root.rpartition("/")[2].lower()).strip("-")[:40].strip("-")
    return f".kimi-code/workspace-trust/wd_{slug or 'workspace'}_{hashlib.sha256(root.encode()).hexdigest()[:12]}"


_HOMES: Mapping[str, Callable[[list[str], str], Files]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "opencode": _opencode,
    "qwen": _qwen,
    "copilot": _copilot,
    "kimi": _kimi,
}

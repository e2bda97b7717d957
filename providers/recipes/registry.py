"""The recipes there are, by name; a module is imported when its CLI is first used."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from providers.recipes.recipe import Recipe

RECIPES = {
    "claude": "Claude",
    "codex": "Codex",
    "gemini": "Gemini",
    "opencode": "Opencode",
    "qwen": "Qwen",
    "copilot": "Copilot",
    "kimi": "Kimi",
    "aider": "Aider",
}
"""Module below this package, and the class in it."""


@cache
def recipe(name: str) -> Recipe | None:
    """The recipe of this name; None when there is none."""
    made = RECIPES.get(name)
    if made is None:
        return None
    found: Recipe = getattr(import_module(f"providers.recipes.{name}"), made)()
    return found

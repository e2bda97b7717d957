"""Prompts that are longer than an argument may be: they go into a file, and the agent is told which."""

from __future__ import annotations

import os

from providers.launch import ARGUMENT_LIMIT, clean_prompt
from providers.provider import Provider
from providers.template import placeholders, strings


def needs_file(provider: Provider, prompt: str | None) -> bool:
    """Whether the prompt is too long to be given to the program, in an argument or typed in."""
    words = clean_prompt(prompt)
    if words is None or provider.prompt == "none":
        return False
    around = [len(os.fsencode(text)) for text in strings(provider.argv) if "prompt" in placeholders(text)]
    beside = max(around, default=len("{prompt}")) - len("{prompt}")
    return len(words.encode()) + beside > ARGUMENT_LIMIT


def line_for(path: str) -> str:
    """The prompt that stands for the one in the file."""
    return f"Read the task in {path} and do it."

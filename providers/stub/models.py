"""The list of models, in one body that the clients of every dialect read."""

from __future__ import annotations

from providers.stub.dialect import Json

MODELS = ("stub-model", "claude-opus-5-5", "claude-sonnet-4-5", "gpt-5.1", "gemini-2.5-pro")


def listed(path: str) -> Json:
    """What GET on a list of models answers."""
    if "/v1beta/" in path:
        return {"models": [_gemini(name) for name in MODELS]}
    data = [_described(name) for name in MODELS]
    # codex reads "models" instead of "data" and takes an empty one for nothing new
    return {
        "object": "list",
        "data": data,
        "has_more": False,
        "first_id": MODELS[0],
        "last_id": MODELS[-1],
        "models": [],
    }


def _described(name: str) -> Json:
    anthropic = {"type": "model", "display_name": name, "created_at": "2026-01-01T00:00:00Z"}
    return {"id": name, "object": "model", "created": 1_767_225_600, "owned_by": "stub", **anthropic}


def _gemini(name: str) -> Json:
    methods = ["generateContent", "countTokens"]
    return {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": methods}

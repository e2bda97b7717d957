"""Errors as the OpenAI APIs word them."""

from __future__ import annotations

from providers.stub.dialect import Json

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}


def error(status: int, message: str) -> Json:
    """The body of an error answer."""
    kind = _ERROR_TYPES.get(status, "server_error")
    return {"error": {"message": message, "type": kind, "code": kind, "param": None}}

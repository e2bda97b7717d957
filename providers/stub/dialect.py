"""What a dialect of a model API is to the stub: requests in, a script out, and answers in the API's own shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from providers.stub.script import Script

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request for an answer, as its dialect understood it."""

    script: Script
    model: str
    stream: bool
    input_tokens: int = 1

    @property
    def output_tokens(self) -> int:
        """Tokens of the answer, at four characters each."""
        return len(self.script.answer) // 4 + 1


class Dialect(Protocol):
    """One API; the modules beside this one are dialects."""

    NAME: str

    def takes(self, path: str) -> bool:
        """Whether a POST to the path asks for an answer in this dialect."""
        ...

    def understand(self, path: str, body: Json, input_tokens: int) -> Asked:
        """The request; ``path`` with its query. Raises ``Malformed``."""
        ...

    def answer(self, asked: Asked) -> Json:
        """The answer as one JSON object."""
        ...

    def stream(self, asked: Asked) -> Iterator[str]:
        """The answer as server-sent events, each as it is sent."""
        ...

    def error(self, status: int, message: str) -> Json:
        """The body of an error answer."""
        ...

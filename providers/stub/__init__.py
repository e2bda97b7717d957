"""A stub model server on loopback: real agent CLIs ask it instead of a paid API, and reach nothing else."""

from __future__ import annotations

from providers.stub.server import StubModel as StubModel

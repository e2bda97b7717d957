"""What a benchmark says: one figure beside its bound and beside a reference measured in the same run."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the report."""

    name: str
    value: float
    unit: str
    bound: float
    reference: float
    """The same kind of work done the plain way, in the same unit; see the benchmark's docstring for what it is."""

    @property
    def ratio(self) -> float:
        """``value`` by ``reference``."""
        return self.value / self.reference if self.reference else 0.0

    @property
    def holds(self) -> bool:
        """Whether the bound is kept."""
        return self.value <= self.bound

    def as_json(self) -> dict[str, object]:
        """Its shape in ``bench-report.json``."""
        return {**asdict(self), "ratio": round(self.ratio, 2), "holds": self.holds}


def p95(values: Sequence[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(values, n=20, method="inclusive")[18]


def median(values: Sequence[float]) -> float:
    """The middle."""
    return statistics.median(values)

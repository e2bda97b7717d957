"""The stub model by hand: serves until interrupted, and prints its address, then every request as a line of JSON."""

from __future__ import annotations

import sys

from providers.stub import StubModel


def main() -> None:
    """Serve on the port given as first argument, 8399 without one."""
    with StubModel(int(sys.argv[1]) if len(sys.argv) > 1 else 8399, echo=True) as stub:
        sys.stderr.write(f"stub model on {stub.url}\n")
        try:
            stub.wait()
        except KeyboardInterrupt:
            sys.stderr.write("\n")


if __name__ == "__main__":
    main()

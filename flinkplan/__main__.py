"""The command line, also as ``python -m flinkplan``."""

from __future__ import annotations

import sys

_INTERRUPTED = 130


def main() -> None:
    """Run the command line, and end the process with its exit code."""
    try:
        from .cli.main import main as run
    except KeyboardInterrupt:  # to import it takes a tenth of a second
        sys.exit(_INTERRUPTED)
    run()


if __name__ == "__main__":
    main()

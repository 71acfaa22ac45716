"""``python -m flinkplan``."""

from .cli.main import main

main()

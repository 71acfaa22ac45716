"""The contexts of arithmetic with decimals: Python's default one keeps 28 digits, a DECIMAL has up to 38."""

from decimal import ROUND_HALF_UP, Context

EXACT = Context(prec=1_000, rounding=ROUND_HALF_UP)
"""More digits than a product of two decimals, or a DOUBLE's exact value, has."""

DIVISION = Context(prec=38, rounding=ROUND_HALF_UP)
"""Source: Flink's ``DecimalDataUtils.MC_DIVIDE``."""

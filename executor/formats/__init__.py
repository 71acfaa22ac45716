"""The formats of tables, found by the option ``format``."""

"""The connectors of tables, found by the option ``connector``."""

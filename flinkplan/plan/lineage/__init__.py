"""Column lineage of a plan: which columns of tables the columns of its sinks come from, and through which functions."""

from .origins import Origins, SinkLineage, SourceColumn, origins_of, unused_columns
from .uses import Kind, Use, uses_of

__all__ = ["Kind", "Origins", "SinkLineage", "SourceColumn", "Use", "origins_of", "unused_columns", "uses_of"]

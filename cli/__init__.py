"""The flinkplan command."""

"""Spark's JVM: started, spoken to, and its types."""

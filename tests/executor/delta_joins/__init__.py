"""Plans with delta joins that Flink 2.3 compiled, over a connector of a test with lookups and indexes."""

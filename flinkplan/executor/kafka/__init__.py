"""Kafka by its own client, librdkafka: what is asked of brokers, and what runs in Spark's Python workers."""

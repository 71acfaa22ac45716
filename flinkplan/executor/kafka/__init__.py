"""Kafka by its own client, librdkafka: what the driver asks of brokers, and what runs in Spark's Python workers."""

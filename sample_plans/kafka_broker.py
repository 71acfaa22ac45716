"""A broker of Kafka for trying things out: ``python sample_plans/kafka_broker.py [PORT_FILE]``.

It is the one that librdkafka has for tests, in this process, and gets an order a second into the topic ``orders``.  Its
address is printed, and written into PORT_FILE if one is named.  Ctrl-C ends it, and with it the topics are gone.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path

from confluent_kafka import Producer

CUSTOMERS = ("ann", "bob", "cid")


def main() -> None:
    """Run until Ctrl-C."""
    broker = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "none", "log_level": 0})
    (known,) = broker.list_topics(timeout=10).brokers.values()
    address = f"{known.host}:{known.port}"
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(address)
    print(f"a broker of Kafka is at {address}, with the topic orders", flush=True)
    producer = Producer({"bootstrap.servers": address, "log_level": 0})
    try:
        while True:
            order = {"customer": random.choice(CUSTOMERS), "amount": random.randint(1, 9)}
            producer.produce("orders", json.dumps(order).encode())
            producer.flush()
            time.sleep(1)
    except KeyboardInterrupt:
        print("the broker has ended")


if __name__ == "__main__":
    main()

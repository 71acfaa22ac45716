"""The client properties that a Kafka table may set, by the names after ``properties.``.

Sources: ``ConsumerConfig``, ``ProducerConfig``, ``CommonClientConfigs``, ``SaslConfigs`` and ``SslConfigs`` of Kafka's
client in Java, which Flink has, and ``CONFIGURATION.md`` of librdkafka, which is executed here.

Only the listed properties reach the client: a plan is untrusted, and there are properties that load libraries, run
commands and send files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..options import BOOLEAN, TEXT, WHOLE, Option, OptionType, one_of

PREFIX = "properties."

_RUNS = "a plan does not say which code or command runs on this machine"


def _taken(type_: OptionType, *names: str) -> Iterator[Option]:
    """Properties of both clients."""
    return (Option(f"{PREFIX}{name}", type_, None, "handed to the client") for name in names)


def _unused(names: Iterable[str]) -> Iterator[Option]:
    """Properties of the Java client only."""
    return (Option(f"{PREFIX}{name}", TEXT, None, "of Flink's client", executed=False) for name in names)


def _refused(why: str, *names: str) -> Iterator[Option]:
    return (Option(f"{PREFIX}{name}", TEXT, None, "of Flink's client", refused=why) for name in names)


def _renamed(name: str, passed_as: str) -> Option:
    return Option(f"{PREFIX}{name}", WHOLE, None, "handed to the client", passed_as=passed_as)


_TEXTS = (
    *("client.id", "client.rack", "group.id", "group.instance.id", "group.remote.assignor", "acks"),
    *("request.required.acks", "metadata.broker.list", "broker.version.fallback"),
    *("security.protocol", "sasl.mechanism", "sasl.mechanisms", "sasl.username", "sasl.password", "sasl.jaas.config"),
    *("sasl.kerberos.service.name", "sasl.kerberos.principal", "sasl.kerberos.keytab"),
    *("sasl.oauthbearer.client.id", "sasl.oauthbearer.client.secret", "sasl.oauthbearer.scope"),
    *("sasl.oauthbearer.client.credentials.client.id", "sasl.oauthbearer.client.credentials.client.secret"),
    *("sasl.oauthbearer.extensions", "sasl.oauthbearer.config"),
    *("ssl.ca.location", "ssl.ca.pem", "ssl.certificate.location", "ssl.certificate.pem", "ssl.crl.location"),
    *("ssl.key.location", "ssl.key.pem", "ssl.key.password", "ssl.keystore.location", "ssl.keystore.password"),
    *("ssl.cipher.suites", "ssl.curves.list", "ssl.sigalgs.list", "ssl.endpoint.identification.algorithm"),
    *("https.ca.location", "https.ca.pem"),
)
_NUMBERS = (
    *("session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms", "request.timeout.ms"),
    *("fetch.min.bytes", "fetch.max.bytes", "max.partition.fetch.bytes", "fetch.message.max.bytes"),
    *("fetch.wait.max.ms", "fetch.error.backoff.ms", "fetch.queue.backoff.ms", "queued.min.messages"),
    *("queued.max.messages.kbytes", "connections.max.idle.ms", "metadata.max.age.ms", "reconnect.backoff.ms"),
    *("reconnect.backoff.max.ms", "retry.backoff.ms", "retry.backoff.max.ms", "socket.timeout.ms"),
    *("socket.connection.setup.timeout.ms", "socket.send.buffer.bytes", "socket.receive.buffer.bytes"),
    *("socket.max.fails", "broker.address.ttl", "topic.metadata.refresh.interval.ms"),
    *("topic.metadata.refresh.fast.interval.ms", "metadata.recovery.rebootstrap.trigger.ms"),
    *("sasl.kerberos.min.time.before.relogin", "retries", "message.send.max.retries", "delivery.timeout.ms"),
    *("message.timeout.ms", "batch.size", "batch.num.messages", "queue.buffering.max.ms", "compression.level"),
    *("queue.buffering.max.messages", "queue.buffering.max.kbytes", "max.in.flight.requests.per.connection"),
    *("max.in.flight", "message.max.bytes", "receive.message.max.bytes", "sticky.partitioning.linger.ms"),
    "transaction.timeout.ms",
)
_SWITCHES = (
    *("check.crcs", "allow.auto.create.topics", "enable.idempotence", "enable.ssl.certificate.verification"),
    *("socket.keepalive.enable", "socket.nagle.disable", "api.version.request", "enable.metrics.push"),
    *("topic.metadata.refresh.sparse", "enable.sasl.oauthbearer.unsecure.jwt"),
)
_OF_JAVA = (
    *("auto.commit.interval.ms", "auto.include.jmx.reporter", "buffer.memory", "config.providers"),
    *("default.api.timeout.ms", "enable.auto.commit", "exclude.internal.topics", "internal.leave.group.on.close"),
    *("max.block.ms", "max.poll.records", "metadata.max.idle.ms", "metrics.num.samples", "metrics.recording.level"),
    *("metrics.sample.window.ms", "partition.assignment.strategy", "partition.discovery.interval.ms"),
    *("partitioner.adaptive.partitioning.enable", "partitioner.availability.timeout.ms", "partitioner.ignore.keys"),
    *("receive.buffer.bytes", "send.buffer.bytes", "socket.connection.setup.timeout.max.ms", "transactional.id"),
    *("register.consumer.metrics", "client.id.prefix", "commit.offsets.on.checkpoint"),
    *("sasl.kerberos.ticket.renew.jitter", "sasl.kerberos.ticket.renew.window.factor"),
    *("sasl.login.connect.timeout.ms", "sasl.login.read.timeout.ms", "sasl.login.retry.backoff.max.ms"),
    *("sasl.login.retry.backoff.ms", "sasl.login.refresh.buffer.seconds", "sasl.login.refresh.min.period.seconds"),
    *("sasl.login.refresh.window.factor", "sasl.login.refresh.window.jitter", "sasl.oauthbearer.clock.skew.seconds"),
    *("ssl.enabled.protocols", "ssl.keymanager.algorithm", "ssl.protocol", "ssl.provider"),
    *("ssl.secure.random.implementation", "ssl.trustmanager.algorithm", "ssl.keystore.type", "ssl.truststore.type"),
    *("key.serializer", "value.serializer", "key.deserializer", "value.deserializer"),
)
"""Flink's client obeys them, and some of them Flink sets itself: here they do nothing."""

_LISTED = (
    *_taken(TEXT, *_TEXTS),
    *_taken(WHOLE, *_NUMBERS),
    *_taken(BOOLEAN, *_SWITCHES),
    *_taken(OptionType("number", TEXT.read), "linger.ms"),
    *_taken(one_of("EARLIEST", "LATEST", "NONE", "BEGINNING", "END", "SMALLEST", "LARGEST"), "auto.offset.reset"),
    *_taken(one_of("READ_UNCOMMITTED", "READ_COMMITTED"), "isolation.level"),
    *_taken(one_of("NONE", "GZIP", "SNAPPY", "LZ4", "ZSTD"), "compression.type", "compression.codec"),
    *_taken(one_of("ANY", "V4", "V6"), "broker.address.family"),
    *_taken(one_of("USE_ALL_DNS_IPS", "RESOLVE_CANONICAL_BOOTSTRAP_SERVERS_ONLY"), "client.dns.lookup"),
    *_taken(one_of("NONE", "REBOOTSTRAP"), "metadata.recovery.strategy"),
    *_taken(one_of("CLASSIC", "CONSUMER"), "group.protocol"),
    *_taken(one_of("DEFAULT", "OIDC"), "sasl.oauthbearer.method"),
    *_taken(
        one_of("RANDOM", "CONSISTENT", "CONSISTENT_RANDOM", "MURMUR2", "MURMUR2_RANDOM", "FNV1A", "FNV1A_RANDOM"),
        "partitioner",
    ),
    _renamed("fetch.max.wait.ms", "fetch.wait.max.ms"),
    _renamed("max.request.size", "message.max.bytes"),
    Option(
        f"{PREFIX}sasl.oauthbearer.token.endpoint.url",
        TEXT,
        None,
        "where the client logs in; a variable",
        by_user=True,
    ),
    *_unused(_OF_JAVA),
    *_refused(
        _RUNS,
        *("plugin.library.paths", "sasl.kerberos.kinit.cmd", "sasl.kerberos.kinit.command"),
        *("ssl.engine.location", "ssl.engine.id", "ssl.providers", "ssl.engine.factory.class"),
        *("interceptor.classes", "metric.reporters", "partitioner.class", "security.providers"),
        *("sasl.client.callback.handler.class", "sasl.login.callback.handler.class", "sasl.login.class"),
        *("sasl.oauthbearer.jwt.retriever.class", "sasl.oauthbearer.jwt.validator.class"),
    ),
    *_refused(
        "certificates are read here instead of trust stores, 'properties.ssl.ca.location'",
        *("ssl.truststore.location", "ssl.truststore.password", "ssl.truststore.certificates"),
        *("ssl.keystore.key", "ssl.keystore.certificate.chain"),
    ),
)

PROPERTIES = (
    Option(f"{PREFIX}bootstrap.servers", TEXT, None, "where brokers are: HOST:PORT,HOST:PORT", required=True),
    Option(
        f"{PREFIX}*",
        TEXT,
        None,
        "what the client is told besides, by the names of its Java twin",
        refused="only settings on a list are handed to the client",
        listed=_LISTED,
    ),
)
"""The settings: those with which a plan is executed, and those with which it is compiled alone."""

"""How a sink of files commits its partitions: what readers see of a partition that is complete.

Sources: Flink's ``FileSystemConnectorOptions``, ``PartitionCommitter`` and ``PartitionCommitPolicy``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..options import DURATION, TEXT, TIME_ZONE_NAME, Option, exactly_one_of

TRIGGER, DELAY, ZONE = (
    "sink.partition-commit.trigger",
    "sink.partition-commit.delay",
    ("sink.partition-commit.watermark-time-zone"),
)
POLICY, SUCCESS_FILE = "sink.partition-commit.policy.kind", "sink.partition-commit.success-file.name"
PATTERN, FORMATTER = "partition.time-extractor.timestamp-pattern", "partition.time-extractor.timestamp-formatter"
EXTRACTOR = "partition.time-extractor.kind"
PARTITION_TIME, PROCESS_TIME = "partition-time", "process-time"
SUCCESS = "success-file"

_CLASS = "it is the name of a class"

OPTIONS = (
    Option(EXTRACTOR, exactly_one_of("default", "custom"), "default", "how the time of a partition is extracted"),
    Option("partition.time-extractor.class", TEXT, None, "the class that extracts it", refused=_CLASS),
    Option(PATTERN, TEXT, None, "the time as text, with partition columns such as $dt; by default the first column"),
    Option(FORMATTER, TEXT, None, "the format of that text; by default yyyy-MM-dd HH:mm:ss or yyyy-MM-dd"),
    Option(
        TRIGGER,
        exactly_one_of(PROCESS_TIME, PARTITION_TIME),
        PROCESS_TIME,
        "whether a partition is committed by the clock or by the watermark",
    ),
    Option(DELAY, DURATION, "0 s", "how long after its first row, or its time, a partition is committed"),
    Option(ZONE, TIME_ZONE_NAME, "UTC", "the zone of a partition's time"),
    Option(POLICY, TEXT, None, "what a commit does: success-file; metastore and custom are refused here"),
    Option("sink.partition-commit.policy.class", TEXT, None, "the class of a custom action", refused=_CLASS),
    Option("sink.partition-commit.policy.class.parameters", TEXT, None, "the parameters of that class", refused=_CLASS),
    Option(SUCCESS_FILE, TEXT, "_SUCCESS", "the name of the file that a commit creates"),
)


def policies(options: Mapping[str, str]) -> Sequence[str]:
    """What a commit does."""
    kinds = (kind.strip() for kind in options.get(POLICY, "").replace(";", ",").split(","))
    return [kind for kind in kinds if kind]


def option(options: Mapping[str, str], key: str) -> str:
    """The value of an option that has a default."""
    default = next(each.default for each in OPTIONS if each.key == key)
    assert default is not None
    return options.get(key, default)


def commits_by_watermark(options: Mapping[str, str], partition_keys: Sequence[str]) -> bool:
    """Whether partitions are committed when the watermark has passed their times."""
    return bool(partition_keys and policies(options)) and option(options, TRIGGER) == PARTITION_TIME

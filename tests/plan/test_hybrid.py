"""What the options of the connector ``hybrid`` say of its sources."""

from __future__ import annotations

import pytest

from flinkplan.plan.connectors import kinds_are_assumed, kinds_text, source_kinds
from flinkplan.plan.connectors.checks import exposed, problems
from flinkplan.plan.specs import Column, ResolvedSchema
from flinkplan.plan.types import STRING

SCHEMA = ResolvedSchema((Column("v", data_type=STRING),))
HISTORY = {"history.connector": "filesystem", "history.path": "/h", "history.format": "json"}
LIVE = {"live.connector": "kafka", "live.topic": "t", "live.properties.bootstrap.servers": "h:1", "live.format": "json"}
HYBRID = {"connector": "hybrid", "source-identifiers": "history, live", **HISTORY, **LIVE}


def problem_texts(**options: str | None) -> list[str]:
    given = {**HYBRID, **{key.replace("_", "."): value for key, value in options.items()}}
    taken = {key: value for key, value in given.items() if value is not None}
    return [f"{p.key}: {p.message}; {p.hint}" for p in problems("x", taken, SCHEMA, False)]


def test_sources_have_the_options_of_their_connectors() -> None:
    assert problem_texts(live_json_ignore__parse__errors=None) == []
    assert problem_texts(**{"live.json.ignore-parse-errors": "true", "scan.watermark.idle-timeout": "1 s"}) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"source-identifiers": None}, "the table 'x' has no option 'source-identifiers'"),
        ({"source-identifiers": "history"}, "source-identifiers: 'history' are no names of sources"),
        ({"source-identifiers": "live,live"}, "two or more different ones"),
        ({"source-identifiers": "history,li.ve"}, "letters, digits and underscores"),
        ({"live.connector": None}, "source 'live': the table 'x, live' has no option 'connector'"),
        ({"live.topik": "x"}, "live.topik: source 'live': the connector 'kafka' has no option 'topik'; did you mean"),
        ({"lve.topic": "x"}, "the connector 'hybrid' has no option 'lve.topic'"),
        ({"live.connector": "print"}, "source 'live': 'x, live' cannot be read"),
        ({"live.connector": "hybrid"}, "the source 'live' is a hybrid one itself"),
        ({"live.scan.startup.mode": "first"}, "live.scan.startup.mode: source 'live': 'first' is no value"),
        ({"use-processing-time": "true"}, "use-processing-time: the table has no watermark that could be the clock"),
        ({"schema-field-mappings": "[]"}, "the connector 'hybrid' has no option 'schema-field-mappings'"),
        ({"switched-start-position-enabled": "true"}, "has no option 'switched-start-position-enabled'"),
    ],
)
def test_what_is_refused(options: dict[str, str | None], words: str) -> None:
    texts = problem_texts(**options)
    assert any(words in text for text in texts), texts


def test_it_is_not_written_to() -> None:
    assert "cannot be written to" in next(problems("x", HYBRID, SCHEMA, True)).message


def test_secrets_of_sources_are_variables() -> None:
    (problem,) = exposed({**HYBRID, "live.properties.sasl.password": "plain"})
    assert problem.key == "live.properties.sasl.password"
    assert not list(exposed({**HYBRID, "live.properties.sasl.password": "${PASSWORD}"}))


def test_its_changes_are_those_of_its_sources() -> None:
    assert kinds_text(source_kinds(HYBRID, False)) == "I"
    assert kinds_text(source_kinds({**HYBRID, "live.format": "debezium-json"}, False)) == "I,UB,UA,D"
    assert not kinds_are_assumed(HYBRID, False)
    assert kinds_are_assumed({**HYBRID, "live.connector": "redis"}, False)

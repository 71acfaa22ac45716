"""What is a secret, and how it is hidden."""

from __future__ import annotations

import pytest

from flinkplan.plan.errors import Location, PlanError
from flinkplan.plan.secrets import HIDDEN, hidden, is_sensitive, masked, masked_json, remember, without_secrets
from flinkplan.plan.text.snippets import underline

HOLDING = [
    "'properties.sasl.password' = 'hunter2', 'a' = 'b'",
    '"password" : "hunter2",',
    "jdbc:postgresql://ann:hunter2@h/db?user=ann&password=hunter2&ssl=true",
    "jdbc:derby:/x;user=a;bootPassword=hunter2;encryptionKey=hunter2;create=true",
    "jdbc:oracle:thin:ann/hunter2@h:1521:x",
    "http://ann:hunter2@h/a",
    "'properties.sasl.jaas.config' = 'org.X required username=\"a\" password=\"hunter2\";'",
    'PlainLoginModule required username="ann" password="hunter2";',
    '"properties.sasl.jaas.config" : "X required password=\\"hunter2\\";"',
    "    properties.sasl.password: hunter2 # of the broker",
    "with --conf spark.hadoop.fs.s3a.secret.key=hunter2 now",
    "'properties.ssl.key.pem' = 'hunter2'",
]
HOLDING_NONE = [
    "'password' = '${PASSWORD}'",
    "jdbc:postgresql://h/db?password=${PASSWORD}&x=1",
    "    password: ${PASSWORD}",
    "unexpected token: SELECT",
    "'password' is a secret, and a plan is no place for it",
    "//host:80/path@1 and mail to ann@example.org",
    "select=[a, token]",
]


@pytest.mark.parametrize("text", HOLDING)
def test_secrets_are_hidden_in_texts(text: str) -> None:
    shown = without_secrets(text)
    assert "hunter2" not in shown
    assert HIDDEN in shown
    assert without_secrets(shown) == shown
    assert "hunter2" not in str(PlanError(text, hint=text, snippet=text))


@pytest.mark.parametrize("text", HOLDING_NONE)
def test_what_is_no_secret_stays(text: str) -> None:
    assert without_secrets(text) == text


def test_values_by_their_keys() -> None:
    assert is_sensitive("properties.sasl.oauthbearer.client.SECRET")
    assert not is_sensitive("topic")
    assert masked("fs.azure.account.key.x", "hunter2") == HIDDEN
    assert masked("password", "${PASSWORD}") == "${PASSWORD}"
    assert masked("path", "/data") == "/data"
    options = {"topic": "t", "password": "hunter2", "url": "jdbc:x://a:hunter2@h"}
    shown = {"topic": "t", "password": HIDDEN, "url": f"jdbc:x://a:{HIDDEN}@h"}
    assert masked_json("/table/options", [options]) == [shown]
    assert masked_json("/table/options/password", "hunter2") == HIDDEN


def test_values_of_variables_are_hidden_wherever_they_stand() -> None:
    written = {"password": "${PW}", "url": "jdbc:x://${WHERE}", "path": "${PATH}"}
    remember({"password": "sesame-1", "url": "jdbc:x://h?password=sesame-2", "path": "/data"}, written)
    assert (
        without_secrets("no login with sesame-1 or sesame-2 at /data") == f"no login with {HIDDEN} or {HIDDEN} at /data"
    )


def test_carets_stand_below_what_is_shown() -> None:
    line = "WITH ('password' = 'hunter2hunter2', 'topc' = 't')"
    column = line.index("'topc'") + 1
    text, marks = underline(line, Location("f", 1, column, column + 6)).split("\n")
    assert text[marks.index("^") :].startswith("'topc'")
    assert marks.count("^") == 6
    shown, shifted = hidden(line)
    assert shown[shifted(line.index("'topc'")) :] == "'topc' = 't')"
    assert shown[shifted(line.index("hunter2") + 3)] == "*"

"""What a plan of a stranger must not do: its options reach Spark, Hadoop, drivers and clients by lists alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import flinkplan

FILES = "'connector' = 'filesystem', 'path' = '${DIR}/in'"
TOPIC = "'connector' = 'kafka', 'topic' = 't', 'format' = 'json', 'properties.bootstrap.servers' = 'h:1'"
DATABASE = "'connector' = 'jdbc', 'table-name' = 't'"

REFUSED = [
    (f"{FILES}, 'format' = 'parquet', 'parquet.cleanSource' = 'delete'", "parquet.cleanSource"),
    (f"{FILES}, 'format' = 'parquet', 'parquet.sourceArchiveDir' = '/tmp'", "parquet.sourceArchiveDir"),
    (f"{FILES}, 'format' = 'parquet', 'parquet.fs.evil.impl' = 'java.util.Timer'", "parquet.fs.evil.impl"),
    (f"{FILES}, 'format' = 'parquet', 'parquet.parquet.crypto.factory.class' = 'A'", "parquet.crypto.factory.class"),
    (f"{FILES}, 'format' = 'parquet', 'parquet.crypto.factory.class' = 'A'", "parquet.crypto.factory.class"),
    (f"{FILES}, 'format' = '${{FORMAT}}', 'parquet.crypto.factory.class' = 'A'", "parquet.crypto.factory.class"),
    (f"{FILES}, 'format' = 'orc', 'orc.key.provider' = 'A'", "orc.key.provider"),
    (f"{FILES}, 'format' = 'orc', 'orc.hadoop.security.key.provider.path' = 'jceks://x'", "orc.hadoop.security"),
    (f"{TOPIC}, 'properties.plugin.library.paths' = '/tmp/x.so'", "properties.plugin.library.paths"),
    (f"{TOPIC}, 'properties.sasl.kerberos.kinit.cmd' = 'touch /tmp/x'", "properties.sasl.kerberos.kinit.cmd"),
    (f"{TOPIC}, 'properties.sasl.oauthbearer.assertion.file' = '/etc/passwd'", "sasl.oauthbearer.assertion.file"),
    (f"{TOPIC}, 'properties.sasl.oauthbearer.token.endpoint.url' = 'http://h'", "is for the user to say"),
    (f"{TOPIC}, 'properties.interceptor.classes' = 'A'", "properties.interceptor.classes"),
    (f"{TOPIC}, 'properties.debug' = 'all'", "properties.debug"),
]
"""Options by which Flink's libraries, Spark or a client would load, run, delete or send something."""

OF_URLS = [
    "jdbc:postgresql://h/db?socketFactory=A",
    "jdbc:postgresql://h/db?sslfactory=A&sslfactoryarg=b",
    "jdbc:postgresql://h/db?loggerLevel=TRACE&loggerFile=/tmp/x",
    "jdbc:postgresql://h/db?authenticationPluginClassName=A",
    "jdbc:postgresql://h/db?jaasApplicationName=A",
    "jdbc:derby:memory:x;traceFile=/tmp/x",
    "jdbc:derby:memory:x;restoreFrom=/tmp/x",
    "jdbc:derby:memory:x;createFrom=/tmp/x",
    "jdbc:derby:;databaseName=/tmp/x",
    "jdbc:derby:jar:(/tmp/x.jar)db",
    "jdbc:derby:classpath:db",
    "jdbc:derby://h/db",
    "jdbc:h2:mem:x;INIT=RUNSCRIPT FROM ''http://h/x.sql''",
    "jdbc:mysql://h/db?autoDeserialize=true&allowLoadLocalInfile=true",
    "jdbc:hsqldb:file:/tmp/x",
    "jdbc:sqlite:/tmp/x",
]


def compiled(folder: Path, options: str, *, sink: bool = False) -> str:
    """The plan of a job that reads, or writes, a table with these options."""
    one, other = ("s", "t") if sink else ("t", "s")
    other_options = "'connector' = 'datagen', 'number-of-rows' = '1'" if sink else "'connector' = 'blackhole'"
    script = folder / "p.sql"
    script.write_text(
        f"CREATE TABLE t (a INT) WITH ({options}); CREATE TABLE s (a INT) WITH ({other_options});"
        f"INSERT INTO {other} SELECT a FROM {one};"
    )
    outcome = flinkplan("compile", str(script), "-o", str(folder / "plan.json"), "--force")
    assert outcome.code == 0, outcome.err
    return str(folder / "plan.json")


@pytest.mark.parametrize("sink", [False, True])
@pytest.mark.parametrize(("options", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_options_that_are_on_no_list(tmp_path: Path, options: str, words: str, sink: bool) -> None:
    plan = compiled(tmp_path, options, sink=sink)
    (tmp_path / "in").mkdir()
    variables = ("--var", f"DIR={tmp_path}", "--var", "FORMAT=parquet")
    for command in (("validate",), ("validate", "--for", "spark"), ("execute",)):
        refused = flinkplan(command[0], plan, *command[1:], *variables)
        assert refused.code == (1 if command[0] == "validate" else 3), command
        assert words in f"{refused.out}{refused.err}", command
    assert flinkplan("validate", plan, "--for", "flink", *variables).code == 0
    script = flinkplan("run", str(tmp_path / "p.sql"), *variables)
    assert (script.code, words in script.err) == (3, True)


HYBRID = (
    "'connector' = 'hybrid', 'source-identifiers' = 'a,b', "
    "'a.connector' = 'filesystem', 'a.path' = '${DIR}', 'a.format' = 'parquet', "
    "'b.connector' = 'jdbc', 'b.table-name' = 't', 'b.url' = 'jdbc:derby:${DIR}/shop'"
)


@pytest.mark.parametrize(
    ("more", "rule", "words"),
    [
        (", 'a.parquet.cleanSource' = 'delete'", "option-unlisted", "'parquet.cleanSource' is not executed here"),
        ("", "spark-database", "source 'b': the plan opens the database in"),
    ],
)
def test_sources_of_a_hybrid_table(tmp_path: Path, more: str, rule: str, words: str) -> None:
    plan = compiled(tmp_path, HYBRID + more)
    valid = flinkplan("validate", plan, "--for", "spark", "--var", f"DIR={tmp_path}")
    assert (valid.code, rule in valid.out, words in valid.out) == (1, True, True), valid.out
    assert flinkplan("execute", plan, "--var", f"DIR={tmp_path}").code == 3


@pytest.mark.parametrize("url", OF_URLS)
def test_urls_that_tell_a_driver_what_to_load(tmp_path: Path, url: str) -> None:
    plan = compiled(tmp_path, f"{DATABASE}, 'url' = '{url}'")
    assert flinkplan("validate", plan, "--for", "spark").code == 1
    refused = flinkplan("execute", plan, "--allow-database", "/")
    assert (refused.code, "not executed here" in refused.err) == (3, True), refused.err


@pytest.mark.parametrize("path", ["http://h/x", "HTTPS://h/x", "jar:file:/x!/y", "har:///x", "file://h/x", "//h/x"])
def test_paths_that_are_no_folders(tmp_path: Path, path: str) -> None:
    plan = compiled(tmp_path, f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{path}'")
    assert flinkplan("validate", plan, "--for", "spark").code == 1
    assert flinkplan("execute", plan).code == 3


@pytest.mark.parametrize(
    "option",
    [
        *("'parquet.compression' = 'ARC'", "'parquet.block.size' = 'big'", "'parquet.enable.dictionary' = '1'"),
        "'parquet.writer.version' = 'java.util.Timer'",
    ],
)
def test_values_of_what_is_handed_on(tmp_path: Path, option: str) -> None:
    (tmp_path / "p.sql").write_text(
        f"CREATE TABLE t (a INT) WITH ({FILES}, 'format' = 'parquet', {option});"
        "CREATE TABLE s (a INT) WITH ('connector' = 'print'); INSERT INTO s SELECT a FROM t;"
    )
    assert flinkplan("compile", str(tmp_path / "p.sql"), "-o", "-").code == 3


@pytest.mark.parametrize(
    "options",
    [
        f"{FILES}, 'format' = 'parquet', 'parquet.compression' = 'GZIP', 'parquet.block.size' = '1048576', "
        "'parquet.utc-timezone' = 'true', 'parquet.batch-size' = '10'",
        f"{FILES}, 'format' = 'orc', 'orc.compress' = 'ZLIB', 'orc.stripe.size' = '1048576'",
        f"{TOPIC}, 'properties.group.id' = 'g', 'properties.max.poll.records' = '5', "
        "'properties.security.protocol' = 'SASL_SSL', 'properties.sasl.oauthbearer.token.endpoint.url' = '${URL}'",
    ],
)
def test_options_that_are_listed(tmp_path: Path, options: str) -> None:
    plan = compiled(tmp_path, options)
    (tmp_path / "in").mkdir()
    valid = flinkplan("validate", plan, "--for", "spark", "--var", f"DIR={tmp_path}", "--var", "URL=https://h")
    assert valid.code == 0, valid.out


DATABASES = [
    ("jdbc:derby:${DIR}/shop", (), False),
    ("jdbc:derby:${DIR}/shop;create=true", (), False),
    ("jdbc:derby:directory:${DIR}/shop", (), False),
    ("jdbc:derby:shop", (), False),
    ("jdbc:derby:${DIR}/shop", ("--allow-database", "{DIR}/other"), False),
    ("jdbc:derby:${DIR}/shop/../../elsewhere", ("--allow-database", "{DIR}/shop"), False),
    ("jdbc:derby:${DIR}/link", ("--allow-database", "{DIR}/allowed"), False),
    ("jdbc:derby:${DIR}/shop", ("--allow-database", "{DIR}"), True),
    ("jdbc:derby:${DIR}/shop", ("--allow-database", "{DIR}/shop"), True),
    ("jdbc:derby:${DB}", (), True),
    ("jdbc:derby:${DB};create=true", (), True),
    ("jdbc:derby:${DIR}/${NAME}", (), True),
    ("${URL}", (), True),
    ("jdbc:derby:memory:shop", (), True),
]
"""URLs, what is passed, and whether such a database is opened."""


@pytest.mark.parametrize(("url", "passed", "opened"), DATABASES)
def test_databases_are_opened_where_the_user_says_so(
    tmp_path: Path, url: str, passed: tuple[str, ...], opened: bool
) -> None:
    (tmp_path / "allowed").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    plan = compiled(tmp_path, f"{DATABASE}, 'url' = '{url}'")
    values = {"DIR": tmp_path, "DB": tmp_path / "shop", "NAME": "shop", "URL": f"jdbc:derby:{tmp_path}/shop"}
    variables = [text for name, value in values.items() for text in ("--var", f"{name}={value}")]
    given = [text.format(DIR=tmp_path) for text in passed]
    valid = flinkplan("validate", plan, "--for", "spark", *variables, *given)
    assert (valid.code == 0) is opened, valid.out
    if not opened:
        refused = flinkplan("execute", plan, *variables, *given)
        assert (refused.code, "--allow-database" in refused.err) == (3, True), refused.err
        assert flinkplan("validate", plan, *variables).code == 0
        assert flinkplan("explain", "--physical", plan).code == 0


def test_a_script_that_executes_a_plan_says_so_too(tmp_path: Path) -> None:
    plan = compiled(tmp_path, f"{DATABASE}, 'url' = 'jdbc:derby:{tmp_path}/shop'")
    (tmp_path / "run.sql").write_text(f"EXECUTE PLAN '{plan}';")
    refused = flinkplan("run", str(tmp_path / "run.sql"))
    assert (refused.code, "--allow-database" in refused.err) == (3, True), refused.err


FUNCTIONS = Path(__file__).parents[1] / "parity" / "java" / "functions.json"
JAVA = """
CREATE TABLE a (s STRING, n BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '1');
CREATE TABLE b (s STRING, n BIGINT) WITH ('connector' = 'blackhole');
CREATE FUNCTION shout AS 'acme.Shout' USING JAR 'acme.jar';
CREATE TEMPORARY FUNCTION words AS 'acme.Split' USING JAR 'acme.jar';
CREATE TEMPORARY SYSTEM FUNCTION wavg AS 'acme.WeightedAvg' USING JAR 'acme.jar';
INSERT INTO b SELECT shout(w), wavg(n, l) FROM a, LATERAL TABLE(words(s)) AS t(w, l) GROUP BY shout(w);
"""


def test_a_plan_loads_no_java_function(tmp_path: Path) -> None:
    script, plan = tmp_path / "p.sql", str(tmp_path / "plan.json")
    script.write_text(JAVA)
    compiled = flinkplan("compile", str(script), "--jar", str(FUNCTIONS), "-o", plan)
    assert compiled.code == 0, compiled.err
    assert flinkplan("validate", plan, "--for", "spark").code == 0
    outcome = flinkplan("execute", plan)
    assert outcome.code != 0
    for name, hint in (
        ("shout", "--jar with the jar of the class acme.Shout"),
        ("words", "--jar with its jar, and --function words=CLASS"),
        ("wavg", "--jar with its jar, and --function wavg=CLASS"),
    ):
        assert f"calls the function {name}, and nobody has said where it is" in outcome.err
        assert f"hint: if you trust it: {hint}" in outcome.err
    part = flinkplan("execute", plan, "--jar", str(FUNCTIONS), "--function", "words=acme.Split")
    assert ("function wavg, and nobody" in part.err, "function words, and nobody" in part.err) == (True, False)


def test_a_script_that_is_compiled_loads_no_jar(tmp_path: Path) -> None:
    script = tmp_path / "p.sql"
    script.write_text(JAVA)
    outcome = flinkplan("compile", str(script))
    assert outcome.code != 0
    assert "the jar 'acme.jar' of the class 'acme.Split' is not loaded" in outcome.err
    assert "hint: --jar acme.jar" in outcome.err

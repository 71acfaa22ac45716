"""What one input row brings about reaches sinks that take upserts in its order."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from flinkplan.executor.prepare.modes import Mode

from ..databases import Database
from .changes import Change

pytestmark = pytest.mark.spark

A = "SELECT id, k, v FROM a"
ALONE = f"SELECT * FROM ({A}) AS a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.id = a.id)"
QUERIES: Mapping[str, str] = {
    "anti join": ALONE,
    "anti join above an anti join": f"SELECT * FROM ({ALONE}) AS l WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.id = l.k)",
    "join above an anti join": f"SELECT l.id, r.k, l.v FROM ({ALONE}) AS l JOIN a AS r ON l.id = r.id",
    "left join with an anti join": f"SELECT l.id, r.k, l.v FROM a AS l LEFT JOIN ({ALONE}) AS r ON l.id = r.id",
    "largest above an anti join": f"SELECT id, MAX(k) AS k, MAX(v) AS v FROM ({ALONE}) GROUP BY id",
    "first above an anti join": "SELECT id, k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY k) AS n "
    f"FROM ({ALONE}) AS x) AS y WHERE n = 1",
}
EXPECTED = {name: [["2", "2", "20"]] for name in QUERIES} | {
    "left join with an anti join": [["1", None, "10"], ["2", "2", "20"]]
}


@pytest.mark.parametrize(
    ("mode", "partitions"),
    [
        (Mode.BOUNDED, 1),
        pytest.param(Mode.AVAILABLE_NOW, 1, marks=pytest.mark.nightly("rows in several partitions show more")),
        (Mode.AVAILABLE_NOW, 3),
    ],
)
def test_an_update_of_an_inner_row_leaves_nothing(database: Database, mode: Mode, partitions: int) -> None:
    declared = "id INT, k INT, v INT, PRIMARY KEY (id) NOT ENFORCED"
    a = [Change(None, (1, 1, 10)), Change(None, (2, 2, 20))]
    b = [Change(None, (1, 1, 1)), Change((1, 1, 1), (1, 1, 2))]
    sources = [
        database.files(name, declared, "debezium-json", *(change.debezium() for change in made))
        for name, made in (("a", a), ("b", b))
    ]
    inserts = []
    for i, query in enumerate(QUERIES.values()):
        database.execute(f"CREATE TABLE o{i} (id INT PRIMARY KEY, k INT, v INT)")
        sources.append(database.table(f"o{i}", declared))
        inserts.append(f"INSERT INTO o{i} {query};")
    conf = {"spark.sql.shuffle.partitions": str(partitions)}
    sets = "SET 'table.exec.sink.require-on-conflict' = 'false';"
    statements = (sets, *sources, "EXECUTE STATEMENT SET BEGIN", *inserts, "END;")
    database.run(*statements, mode=mode, conf=conf)
    found = {name: database.rows(f"SELECT * FROM o{i} ORDER BY id") for i, name in enumerate(QUERIES)}
    assert found == EXPECTED


@pytest.mark.parametrize(("mode", "partitions"), [(Mode.BOUNDED, 3), (Mode.AVAILABLE_NOW, 3)])
def test_of_inserted_rows_with_one_key_the_last_one_stays(database: Database, mode: Mode, partitions: int) -> None:
    rows = [{"id": i % 6, "k": i * 7 % 13} for i in range(60)]
    database.execute("CREATE TABLE o (id INT PRIMARY KEY, w INT)")
    database.run(
        database.files("a", "id INT, k INT", "json", *rows),
        database.files("b", "k INT, w INT", "json", *({"k": k, "w": 100 + k} for k in range(13))),
        database.table("o", "id INT, w INT, PRIMARY KEY (id) NOT ENFORCED"),
        "INSERT INTO o SELECT id, w FROM a JOIN b ON a.k = b.k ON CONFLICT DO DEDUPLICATE;",
        mode=mode,
        conf={"spark.sql.shuffle.partitions": str(partitions)},
    )
    last = {row["id"]: 100 + row["k"] for row in rows}
    assert database.rows("SELECT * FROM o ORDER BY id") == [[str(id), str(w)] for id, w in sorted(last.items())]

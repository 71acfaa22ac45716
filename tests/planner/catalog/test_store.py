"""Catalogs in the files of a catalog store."""

from __future__ import annotations

from pathlib import Path

import pytest

from flinkplan.plan.errors import FlinkplanError
from flinkplan.plan.tables import plan_tables
from flinkplan.planner import compile_script

SETTINGS = {"table.catalog-store.kind": "file"}
QUERY = (
    "CREATE TABLE lake.db.t (id INT) WITH ('k' = 'v'); CREATE TABLE seen (id INT) WITH ('connector' = 'print');"
    "INSERT INTO seen SELECT id FROM lake.db.t;"
)


def test_catalogs_of_a_store_are_there(tmp_path: Path) -> None:
    (tmp_path / "lake.yaml").write_text("type: iceberg\nuri: http://it's:1\ncatalog-type: rest\ncache-enabled: true\n")
    (tmp_path / "notes.txt").write_text("no catalog")
    config = {**SETTINGS, "table.catalog-store.file.path": str(tmp_path)}
    by_settings = compile_script(QUERY, options=config)
    by_statements = compile_script("".join(f"SET '{key}' = '{value}';" for key, value in config.items()) + QUERY)
    assert by_settings == by_statements
    (lake_options,) = (r.options for _, r in plan_tables(by_settings) if r.name == "t")
    assert lake_options is not None
    assert (lake_options["connector"], lake_options["uri"]) == ("iceberg", "http://it's:1")
    # the pipeline may create them, too
    again = compile_script(f"CREATE CATALOG lake WITH ('type' = 'iceberg');{QUERY}", options=config)
    assert len(again.nodes) == len(by_settings.nodes)


@pytest.mark.parametrize(
    ("content", "words"), [("- 1", "the file of a catalog has its options"), ("a: [", "the file is no YAML")]
)
def test_files_that_are_no_catalogs(content: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "lake.yaml").write_text(content)
    with pytest.raises(FlinkplanError, match=words) as caught:
        compile_script(QUERY, options={**SETTINGS, "table.catalog-store.file.path": str(tmp_path)})
    assert caught.value.where == str(tmp_path / "lake.yaml")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FlinkplanError, match="there is no folder"):
        compile_script(QUERY, options={**SETTINGS, "table.catalog-store.file.path": str(tmp_path / "none")})

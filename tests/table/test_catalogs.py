"""Catalogs as objects, and what an environment of streams gives to one of tables."""

from __future__ import annotations

import pytest

from flinkplan.datastream import CheckpointingMode, RuntimeExecutionMode, StreamExecutionEnvironment
from flinkplan.plan.errors import FlinkplanError, UnsupportedError
from flinkplan.table import DataTypes, EnvironmentSettings, Schema, StreamTableEnvironment, TableEnvironment
from flinkplan.table.catalogs import (
    Catalog,
    CatalogBaseTable,
    CatalogDatabase,
    CatalogDescriptor,
    JdbcCatalog,
    ObjectPath,
)


@pytest.fixture
def env() -> TableEnvironment:
    return TableEnvironment(EnvironmentSettings({}), warn=lambda finding: None)


@pytest.fixture
def catalog(env: TableEnvironment) -> Catalog:
    env.create_catalog("mine", CatalogDescriptor.of("mine", {"type": "generic_in_memory"}, "a comment"))
    catalog = env.get_catalog("mine")
    assert isinstance(catalog, Catalog)
    return catalog


def test_databases(env: TableEnvironment, catalog: Catalog) -> None:
    assert catalog.get_default_database() == "default"
    catalog.create_database("d", CatalogDatabase.create_instance({"a": "1"}, "words"), False)
    catalog.create_database("d", CatalogDatabase.create_instance({}), True)
    assert catalog.list_databases() == ["d", "default"]
    catalog.alter_database("d", CatalogDatabase.create_instance({"b": "2"}), False)
    database = catalog.get_database("d")
    assert (database.get_properties(), database.get_comment()) == ({"a": "1", "b": "2"}, "words")
    catalog.drop_database("d", False)
    assert not catalog.database_exists("d")
    with pytest.raises(FlinkplanError, match="there is no database"):
        catalog.get_database("d")


def test_tables_and_views(env: TableEnvironment, catalog: Catalog) -> None:
    schema = Schema.new_builder().column("id", DataTypes.INT().not_null()).primary_key("id").build()
    table = CatalogBaseTable.create_table(schema, properties={"connector": "print"}, comment="a table")
    path = ObjectPath("default", "t")
    catalog.create_table(path, table, False)
    catalog.create_table(path, table, True)
    again = catalog.get_table(path)
    assert again.get_options() == {"connector": "print"}
    assert again.get_comment() == "a table"
    assert again.get_unresolved_schema().parts[0] == "`id` INT NOT NULL"
    view = CatalogBaseTable.create_view("SELECT 1 AS a", "SELECT 1 AS a", schema, {})
    catalog.create_table(ObjectPath("default", "v"), view, False)
    assert (catalog.list_tables("default"), catalog.list_views("default")) == (["t", "v"], ["v"])
    catalog.rename_table(path, "u", False)
    catalog.drop_table(ObjectPath("default", "v"), False)
    assert catalog.list_tables("default") == ["u"]
    assert not catalog.table_exists(path)
    with pytest.raises(UnsupportedError, match=r"alter_table\(\) of a catalog is not supported"):
        catalog.alter_table(path, table, False)


def test_paths_have_up_to_three_parts_which_may_be_reserved_words(env: TableEnvironment) -> None:
    env.execute_sql("CREATE CATALOG side WITH ('type' = 'generic_in_memory')")
    env.execute_sql("CREATE TABLE side.`default`.`table` (a INT) WITH ('connector' = 'datagen')")
    schema = env.from_path("side.default.table").get_schema()
    assert (schema.get_field_names(), schema.get_field_count(), schema.get_field_name(1)) == (["a"], 1, None)
    assert (schema.get_field_data_types(), schema.get_field_data_type("b")) == ([DataTypes.INT()], None)
    assert schema.get_field_data_type("a") == schema.get_field_data_type(0) == DataTypes.INT()
    for path in ("side.default.table.a", "side.default table", "side..table"):
        with pytest.raises(FlinkplanError):
            env.from_path(path)


def test_a_catalog_of_a_database(env: TableEnvironment) -> None:
    env.register_catalog("pg", JdbcCatalog("pg", "shop", "ann", "secret", "jdbc:postgresql://localhost:5432"))
    assert "pg" in env.list_catalogs()
    assert env.get_catalog("none") is None


@pytest.mark.filterwarnings("ignore:'.*' has no effect here")
def test_options_and_files_of_an_environment_of_streams() -> None:
    streams = StreamExecutionEnvironment.get_execution_environment()
    streams.set_parallelism(2).enable_checkpointing(5000, CheckpointingMode.EXACTLY_ONCE)
    streams.add_jars("file:///a.jar", "file:///b.jar")
    streams.get_config().set_global_job_parameters({"unit": "metre"})
    env = StreamTableEnvironment.create(streams)
    assert env.get_config().to_map() == {
        "parallelism.default": "2",
        "execution.checkpointing.interval": "5000 ms",
        "execution.checkpointing.mode": "EXACTLY_ONCE",
        "pipeline.jars": "file:///a.jar;file:///b.jar",
        "pipeline.global-job-parameters": "unit:metre",
    }
    assert streams.get_checkpoint_interval() == 5000


def test_streams_of_rows_are_refused() -> None:
    streams = StreamExecutionEnvironment.get_execution_environment()
    env = StreamTableEnvironment.create(streams)
    for refused in (
        lambda: streams.execute("job"),
        lambda: streams.from_collection([1]),
        lambda: streams.set_runtime_mode(RuntimeExecutionMode.BATCH),
        lambda: env.to_data_stream(None),
    ):
        with pytest.raises(UnsupportedError, match="not supported"):
            refused()

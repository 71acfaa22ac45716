"""Compiles orders.sql on Apache Flink into plan.json; for a Python that has apache-flink, beside a JDK.

Flink's connector of Kafka is a jar of its own.  Its planner asks no more of it than ``Kafka.java`` says.
"""

import subprocess
import tempfile
from pathlib import Path

import pyflink
from pyflink.table import EnvironmentSettings, TableEnvironment

HERE = Path(__file__).parent
SERVICE = "META-INF/services/org.apache.flink.table.factories.Factory"


def jar(folder: Path) -> Path:
    """The stand-in for the connector."""
    classes, made = folder / "classes", folder / "kafka.jar"
    (classes / SERVICE).parent.mkdir(parents=True)
    (classes / SERVICE).write_text("standin.Kafka\n")
    flink = Path(pyflink.__file__).parent / "lib" / "*"
    subprocess.run(["javac", "-cp", str(flink), "-d", str(classes), str(HERE / "Kafka.java")], check=True)
    subprocess.run(["jar", "cf", str(made), "-C", str(classes), "."], check=True)
    return made


def main() -> None:
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    *definitions, insert = (HERE / "orders.sql").read_text().strip().removesuffix(";").split(";\n")
    with tempfile.TemporaryDirectory() as folder:
        environment.get_config().set("pipeline.jars", jar(Path(folder)).as_uri())
        for definition in definitions:
            environment.execute_sql(definition)
        plan = environment._j_tenv.compilePlanSql(insert)
        (HERE / "plan.json").write_text(f"{plan.asJsonString()}\n")


if __name__ == "__main__":
    main()

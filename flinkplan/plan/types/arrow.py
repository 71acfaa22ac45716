"""The types of Arrow that hold the same values as a type of Flink wherever columns are exchanged."""

ARROW_NAMES = {
    "BOOLEAN": "bool_",
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INT": "int32",
    "BIGINT": "int64",
    "FLOAT": "float32",
    "DOUBLE": "float64",
    "CHAR": "string",
    "VARCHAR": "string",
    "VARBINARY": "binary",
    "DATE": "date32",
    "NULL": "null",
}
"""The function of ``pyarrow`` that makes the type, by the root of Flink's.  Source: ``pyflink.table.types``."""

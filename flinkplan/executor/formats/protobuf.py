"""Messages of Protocol Buffers: the descriptors of their classes, and what the Java half reads and writes them by.

In Flink the name of a class is one on the class path.  Here it stands for a message of a file of descriptors, which the
user names: ``protoc --include_imports --descriptor_set_out=FILE`` makes it.

Sources: Flink's ``PbSchemaValidationUtils``, and the documentation of Java's generated code.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ...plan.types import LogicalType
from ...plan.types.readable import readable
from ..errors import TableError
from .avro_schema import Fields

MESSAGE_CLASS = "message-class-name"

_KINDS = (
    *("", "double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "group", "message"),
    *("bytes", "uint32", "enum", "sfixed32", "sfixed64", "sint32", "sint64"),
)
"""The types of fields by their numbers in ``descriptor.proto``."""

_INTEGERS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
_ROOTS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("int32", "uint32", "sint32", "fixed32", "sfixed32"), ("INT",)),
    **dict.fromkeys(("int64", "uint64", "sint64", "fixed64", "sfixed64"), ("BIGINT",)),
    "float": ("FLOAT",),
    "double": ("DOUBLE",),
    "bool": ("BOOLEAN",),
    "string": ("CHAR", "VARCHAR"),
    "bytes": ("BINARY", "VARBINARY"),
    "enum": ("CHAR", "VARCHAR", *_INTEGERS),
}


def message_spec(fields: Fields, options: Mapping[str, str], files: str, where: str) -> str:
    """The JSON by which ``ProtobufType.java`` knows the message of a table's columns.

    ``files`` are the paths of the user's files of descriptors, as ``PATH`` has those of folders.  Raises
    :class:`TableError` where none has the message, or it does not have the columns.
    """
    name = options[MESSAGE_CLASS].replace("$", ".")
    messages: dict[str, Any] = {}
    for path in files.split(os.pathsep):
        messages |= _messages(path, where)
    if name not in messages:
        known = ", ".join(sorted(messages)[:5])
        raise TableError(
            f"no file of descriptors has the class '{options[MESSAGE_CLASS]}'",
            where=where,
            hint=f"they have {known}" + (" …" if len(messages) > 5 else ""),
        )
    return json.dumps(_message(messages[name], fields, where))


def _messages(path: str, where: str) -> Mapping[str, Any]:
    """The messages of a file by the names of their Java classes, with dots between nested ones."""
    try:
        status = Path(path).stat()
        return _read(path, status.st_mtime_ns, status.st_size)
    except ImportError:
        hint = "pip install 'flinkplan[python]'"
        raise TableError("messages of Protocol Buffers need protobuf", where=where, hint=hint) from None
    except OSError as e:
        raise TableError(f"the file of descriptors cannot be read: {e.strerror or e}: {path}", where=where) from None
    except Exception as e:  # what the library raises differs from version to version
        message = f"'{path}' is no file of descriptors with all that they import: {e}"
        hint = "protoc --include_imports --descriptor_set_out=FILE … makes one"
        raise TableError(message, where=where, hint=hint) from None


@cache
def _read(path: str, changed: int, size: int) -> Mapping[str, Any]:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool

    content = FileDescriptorSet.FromString(Path(path).read_bytes())
    pool = DescriptorPool()
    for file in content.file:
        pool.AddSerializedFile(file.SerializeToString())
    messages: dict[str, Any] = {}
    for file in content.file:
        prefix = _java_prefix(file)
        for message in file.message_type:
            full_name = f"{file.package}.{message.name}" if file.package else message.name
            messages |= _nested(f"{prefix}{message.name}", pool.FindMessageTypeByName(full_name))
    if not messages:
        raise ValueError("it has no messages")
    return messages


def _nested(name: str, message: Any) -> dict[str, Any]:
    messages = {name: message}
    for inner in message.nested_types:
        messages |= _nested(f"{name}.{inner.name}", inner)
    return messages


def _java_prefix(file: Any) -> str:
    """What the names of a file's classes begin with."""
    package = file.options.java_package or file.package
    prefix = f"{package}." if package else ""
    if file.options.java_multiple_files:
        return prefix
    outer = file.options.java_outer_classname
    if not outer:
        words = Path(file.name).stem.replace("-", "_").split("_")
        outer = "".join(word[:1].upper() + word[1:] for word in words)
        named = (*file.message_type, *file.enum_type, *file.service)
        if any(each.name == outer for each in named):
            outer += "OuterClass"
    return f"{prefix}{outer}."


def _message(message: Any, fields: Fields, where: str) -> dict[str, Any]:
    syntax = _syntax(message)
    if syntax not in ("proto2", "proto3"):
        raise TableError(
            f"the message '{message.full_name}' is of an edition, and those of proto2 and proto3 are read", where=where
        )
    oneofs = {
        str(field.number): index
        for index, oneof in enumerate(message.oneofs)
        for field in oneof.fields
        if len(oneof.fields) > 1
    }
    return {
        "fields": [_field(message, name, t, where) for name, t in fields],
        "required": [field.number for field in message.fields if _is_required(field)],
        "oneofs": oneofs,
        "proto3": syntax == "proto3",
    }


def _syntax(message: Any) -> str:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    file = FileDescriptorProto()
    message.file.CopyToProto(file)
    return file.syntax or "proto2"


def _field(message: Any, name: str, t: LogicalType, where: str) -> dict[str, Any]:
    field = message.fields_by_name.get(name)
    if field is None:
        raise TableError(f"the message '{message.full_name}' has no field '{name}'", where=where)
    kind, is_repeated = _KINDS[field.type], _is_repeated(field)
    is_map = kind == "message" and field.message_type.GetOptions().map_entry

    def refuse() -> TableError:
        described = f"map of {kind}s" if is_map else f"repeated {kind}" if is_repeated else kind
        return TableError(
            readable(f"the field '{name}' of the message is a {described}, and the column is {t}"), where=where
        )

    element = t
    if is_map:
        if t.root != "MAP":
            raise refuse()
        inner: Any = _message(field.message_type, list(zip(("key", "value"), t.children, strict=True)), where)
    elif is_repeated and t.root != "ARRAY":
        raise refuse()
    else:
        element = t.element if is_repeated else t
        if element.root not in (("ROW",) if kind == "message" else _ROOTS.get(kind, ())):
            raise refuse()
        inner = (
            _message(field.message_type, [(f.name, f.type) for f in element.fields], where)
            if kind == "message"
            else None
        )
    return {
        "number": field.number,
        "name": name,
        "kind": kind,
        "repeated": is_repeated,
        "map": is_map,
        "packed": is_repeated and field.is_packed,
        "presence": field.has_presence,
        "message": inner,
        "names": [[value.number, value.name] for value in field.enum_type.values] if kind == "enum" else [],
        "default": _default(field, kind),
    }


def _is_repeated(field: Any) -> bool:
    repeated = getattr(field, "is_repeated", None)
    return bool(field.label == field.LABEL_REPEATED if repeated is None else repeated)


def _is_required(field: Any) -> bool:
    required = getattr(field, "is_required", None)
    return bool(field.label == field.LABEL_REQUIRED if required is None else required)


def _default(field: Any, kind: str) -> str | None:
    """The declared default of a field, as text."""
    if not field.has_default_value:
        return None
    value = field.default_value
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(repr(value), repr(value))
    return str(value)

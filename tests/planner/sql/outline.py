"""Syntax trees as short text, with every operator in parentheses, for tables of expectations."""

from collections.abc import Iterable

from flinkplan.planner.sql import ast


def outline(node: object) -> str:
    """A tree in one line."""
    match node:
        case None:
            return "-"
        case str() | bool() | int() | bytes():
            return str(node)
        case tuple():
            return f"[{joined(node)}]"
        case ast.Identifier():
            return node.name
        case ast.Name():
            return str(node)
        case ast.ColumnRef():
            return ".".join(node.names)
        case ast.Star():
            return ".".join([*(part.name for part in node.qualifier), "*"])
        case ast.NullLiteral():
            return "NULL"
        case ast.NumericLiteral():
            return node.text
        case ast.StringLiteral():
            return repr(node.value)
        case ast.Unary():
            return f"({node.operator} {outline(node.operand)})"
        case ast.Binary():
            return f"({outline(node.left)} {node.operator} {outline(node.right)})"
        case ast.FunctionCall():
            return f"{node.name}({call(node)})" if node.parentheses else str(node.name)
        case ast.Symbol():
            return f"<{node.value}>"
        case ast.DataType():
            return data_type(node)
        case ast.Option():
            return f"{node.key}={node.value}"
        case ast.SelectItem() | ast.TableAlias() if not said(node)[1:]:
            return outline(said(node)[0][1])
        case ast.Node():
            parts = said(node)
            return f"{type(node).__name__}({', '.join(f'{name}={outline(value)}' for name, value in parts)})"
    raise TypeError(node)


def said(node: ast.Node) -> list[tuple[str, object]]:
    """The fields that differ from their defaults."""
    names, defaults = node.__struct_fields__, node.__struct_defaults__
    left_out = dict(zip(reversed(names), reversed(defaults), strict=False))
    return [
        (name, getattr(node, name))
        for name in names
        if name not in node.apart and (name not in left_out or getattr(node, name) != left_out[name])
    ]


def joined(nodes: Iterable[object]) -> str:
    return ", ".join(outline(node) for node in nodes)


def call(node: ast.FunctionCall) -> str:
    rest = [f"{name}={outline(value)}" for name, value in said(node) if name not in ("name", "args")]
    return ", ".join([*(outline(arg) for arg in node.args), *rest])


def data_type(node: ast.DataType) -> str:
    inner = [outline(item) for item in (*node.args, *node.elements)]
    inner += [f"{item.name} {outline(item.type)}{f' {item.comment!r}' if item.comment else ''}" for item in node.fields]
    if node.interval:
        inner.append(outline(node.interval))
    text = f"{node.name}({', '.join(inner)})" if inner else node.name
    return text if node.nullable else f"{text}!"

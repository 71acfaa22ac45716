"""Cut SQL text into tokens."""

from __future__ import annotations

import re

from ...plan.printable import whole_characters
from ...plan.record import Record
from .source import Source

WORD = "word"
QUOTED = "quoted"
NUMBER = "number"
STRING = "string"
BINARY = "binary"
OPERATOR = "operator"
BAD = "bad"
END = "end"


class Token(Record, gc=False):
    """A token and where it stands.

    ``key`` is what the parser compares: the upper-case text of a word, the text of an operator, and otherwise
    the kind itself, which no word can equal because kinds are lower case.
    """

    kind: str
    key: str
    start: int
    end: int


_LONGEST_NUMBER = 1000
"""The most characters of a number: no type holds more, and Python reads at most 4,300 digits."""

_TOKEN = re.compile(
    r"""
    (?: \s++ | --[^\n]*+ | //[^\n]*+ | /\*(?!\+)(?s:.*?)\*/ )*+
    (?:
        (?P<string>   (?:[uU]& | [nN] | _[A-Za-z][\w-]*)? '(?:[^']|'')*+' )
      | (?P<binary>   [xX]'(?:[^']|'')*+' )
      | (?P<word>     (?:[^\W\d]|\$) [\w$]*+ )
      | (?P<number>   (?: [0-9]++ (?:\.[0-9]*+)? | \.[0-9]++ ) (?:[eE][+-]?[0-9]++)? )
      | (?P<quoted>   `(?:[^`]|``)++` )
      | (?P<operator> /\*\+ | \*/ | => | <> | != | <= | >= | \|\| | /(?!\*) | [-()\[\]{},.;+*%=<>?:|^&~!@] )
      | (?P<end>      \Z )
      | (?P<bad>      (?s:['`].* | /\*.* | .) )
    )
    """,
    re.VERBOSE,
)


def tokenize(source: Source) -> list[Token]:
    """All tokens of a text, the last of kind END.

    Text that is no token becomes one of kind BAD, so that the parser can report it and go on: an unknown character, an
    endless number, or an unclosed quote or comment with everything behind it.
    """
    text = source.text
    tokens: list[Token] = []
    append = tokens.append
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or END
        start, end = match.span(kind)
        if kind == WORD:
            append(Token(WORD, text[start:end].upper(), start, end))
        elif kind == OPERATOR:
            append(Token(OPERATOR, text[start:end], start, end))
        elif kind == NUMBER and end - start > _LONGEST_NUMBER:
            append(Token(BAD, BAD, start, end))
        else:
            append(Token(kind, kind, start, end))
            if kind == END:
                break
    return tokens


def identifier_name(text: str) -> str:
    """The name in a backquoted identifier."""
    return text[1:-1].replace("``", "`")


def string_value(text: str, escape: str = "\\") -> str:
    """The value of a string token; in ``U&'…'`` the escape character introduces code points.

    Raises ValueError for an escape that is none.
    """
    prefix, _, rest = text.partition("'")
    value = rest[:-1].replace("''", "'")
    if prefix.upper() != "U&":
        return value
    mark = re.escape(escape)

    def character(match: re.Match[str]) -> str:
        digits = match[1]
        if digits is None:
            raise ValueError(f"{match[0]} is not a unicode escape")
        return escape if digits == escape else chr(int(digits, 16))

    spelt = re.sub(rf"{mark}(?:({mark}|[0-9A-Fa-f]{{4}})|.{{0,4}})", character, value)
    return whole_characters(spelt)


def binary_value(text: str) -> bytes:
    """The value of ``X'…'``; raises ValueError when it is not pairs of hexadecimal digits."""
    digits = text[2:-1]
    if not re.fullmatch(r"(?:[0-9A-Fa-f]{2})*", digits):
        raise ValueError("not pairs of hexadecimal digits")
    return bytes.fromhex(digits)

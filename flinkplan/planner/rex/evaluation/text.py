"""Constant calls of text, hash and encoding functions."""

from __future__ import annotations

import base64
import hashlib
import re
from urllib.parse import parse_qs, quote_plus, unquote_plus, urlsplit

from ....plan.rex import Call, Literal
from ....plan.types import CHARACTER, INTEGERS
from . import limits
from .registry import UnknownValue, declare, evaluator


def _substring(text: str, start: int, length: int | None = None) -> str:
    """1-based; a negative start counts from the end, 0 is 1; nothing where it lies before the text."""
    begin = start - 1 if start > 0 else len(text) + start if start < 0 else 0
    if begin < 0:
        return ""
    if length is None:
        return text[begin:]
    if length < 0:
        raise UnknownValue
    return text[begin : begin + length]


def _units(text: str) -> str:
    """A text whose characters are those of UTF-16, in which Flink counts some of them."""
    data = text.encode("utf-16-le")
    return "".join(chr(data[i] | data[i + 1] << 8) for i in range(0, len(data), 2))


def _from_units(units: str) -> str:
    """The inverse of :func:`_units`.  Raises :class:`ValueError` where half a character was left."""
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _padded(text: str, length: int, fill: str, *, left: bool) -> str:
    if length < 0 or not fill:
        raise UnknownValue
    units = _units(text)
    limits.length(length)
    missing = max(length - len(units), 0)
    padding = (_units(fill) * missing)[:missing]
    return _from_units(padding + units[:length] if left else units[:length] + padding)


def _repeat(text: str, count: int) -> str:
    limits.length(len(text) * count)
    return text * max(count, 0)


def _replace(text: str, old: str, new: str) -> str:
    if not old:
        return text
    limits.length(len(text) + text.count(old) * len(new))
    return text.replace(old, new)


def _overlay(text: str, new: str, start: int, length: int | None = None) -> str:
    units, inserted = _units(text), _units(new)
    if start <= 0 or start > len(units):
        return text
    size = len(inserted) if length is None else length
    rest = units[start - 1 + size :] if size > 0 else ""
    return _from_units(units[: start - 1] + inserted + rest)


def _locate(part: str, text: str, start: int = 1) -> int:
    return text.find(part, max(start - 1, 0)) + 1


def _instr(text: str, part: str, start: int = 1, nth: int = 1) -> int:
    """The nth occurrence from a position, backwards from the end where that is negative; 0 for none."""
    if nth < 1 or start == 0 or not (text.isascii() and part.isascii()):
        raise UnknownValue
    starts = [m.start() for m in re.finditer(f"(?={re.escape(part)})", text)]
    positions = (
        [s for s in starts if s >= start - 1] if start > 0 else [s for s in starts[::-1] if s <= len(text) + start]
    )
    return positions[nth - 1] + 1 if nth <= len(positions) else 0


def _unhex(text: str) -> str | None:
    """The bytes of pairs of digits; a single first digit counts as 00, as in Flink."""
    if not re.fullmatch("[0-9A-Fa-f]*", text):
        return None
    odd = len(text) % 2
    return base64.b64encode(bytes(odd) + bytes.fromhex(text[odd:])).decode()


def _inet_aton(text: str) -> int | None:
    if not re.fullmatch(r"\d{1,3}(\.\d{1,3}){3}", text):
        raise UnknownValue
    parts = [int(part) for part in text.split(".")]
    return None if max(parts) > 255 else int.from_bytes(bytes(parts), "big")


def _inet_ntoa(number: int) -> str | None:
    return ".".join(map(str, number.to_bytes(4, "big"))) if 0 <= number < 2**32 else None


def _split_index(text: str, separator: str, index: int) -> str | None:
    parts = text.split(separator) if separator else []
    return parts[index] if 0 <= index < len(parts) else None


def _ascii(text: str) -> int:
    """The first byte, signed; 0 for an empty text."""
    first = text.encode()[0] if text else 0
    return first - 256 if first > 127 else first


def _is_alpha(text: str) -> bool:
    """Whether all units of UTF-16 are letters: halves of a character are none."""
    return all(c.isalpha() and c <= "\uffff" for c in text) and bool(text)


def _is_digit(text: str) -> bool:
    if not text.isascii():
        raise UnknownValue
    return text.isdigit()


def _is_decimal(text: str) -> bool:
    if not re.fullmatch(r"-?\d+(\.\d+)?", text):
        raise UnknownValue
    return True


_CHARSETS = ("US-ASCII", "ISO-8859-1", "UTF-8", "UTF-16BE", "UTF-16LE")


def _charset(name: str) -> str:
    if name.upper() not in _CHARSETS:
        raise UnknownValue
    return name


def _encode(text: str, charset: str) -> str:
    """The bytes, with a mark of their order before UTF-16, and a question mark for what there is no byte for."""
    if charset.upper() == "UTF-16":
        return base64.b64encode(b"\xfe\xff" + text.encode("UTF-16BE")).decode()
    return base64.b64encode(text.encode(_charset(charset), "replace")).decode()


def _decode(data: str, charset: str) -> str:
    try:
        return base64.b64decode(data).decode(_charset(charset))
    except UnicodeDecodeError:
        raise UnknownValue from None


_SPECIFIER = re.compile(r"%(?:%|(?P<flags>-?0?)(?P<width>\d*)(?P<kind>[sdx]))")


@evaluator("PRINTF")
def _printf(call: Call, pattern: Literal, *arguments: Literal) -> str | None:
    """Texts and whole numbers, padded; NULL where there are fewer values than places for them."""
    if "%" in _SPECIFIER.sub("", pattern.value):
        raise UnknownValue
    left = list(arguments)

    def written(match: re.Match[str]) -> str:
        if match["kind"] is None:
            return "%"
        value = left.pop(0)
        fits = value.type.root in (INTEGERS if match["kind"] in "dx" else (*INTEGERS, *CHARACTER))
        if not fits or value.value is None or (match["kind"] == "x" and value.value < 0):
            raise UnknownValue
        if "0" in match["flags"] and (match["kind"] == "s" or "-" in match["flags"] or not match["width"]):
            raise UnknownValue
        limits.length(int(match["width"] or 0))
        return f"%{match['flags']}{match['width']}{match['kind']}" % (value.value,)

    if sum(m["kind"] is not None for m in _SPECIFIER.finditer(pattern.value)) > len(arguments):
        return None
    return _SPECIFIER.sub(written, pattern.value)


def _initcap(text: str) -> str:
    """The first letter of each alphanumeric word in upper case; ASCII only."""
    return re.sub(r"[A-Za-z0-9]+", lambda m: m[0][0].upper() + m[0][1:].lower(), text)


def _translate(text: str, source: str, target: str) -> str:
    table: dict[int, str | None] = {}
    for i, c in enumerate(source):
        table.setdefault(ord(c), target[i] if i < len(target) else None)
    return text.translate(table)


def _parse_url(url: str, part: str, key: str | None = None) -> str | None:
    parsed = urlsplit(url)
    if part == "QUERY" and key is not None:
        values = parse_qs(parsed.query).get(key)
        return values[0] if values else None
    parts = {
        "HOST": parsed.hostname,
        "PATH": parsed.path,
        "QUERY": parsed.query or None,
        "REF": parsed.fragment or None,
        "PROTOCOL": parsed.scheme,
        "AUTHORITY": parsed.netloc,
        "USERINFO": parsed.netloc.rpartition("@")[0] or None,
        "FILE": f"{parsed.path}?{parsed.query}" if parsed.query else parsed.path,
    }
    if part not in parts:
        raise UnknownValue
    return parts[part]


def _url_decode(text: str) -> str | None:
    """NULL for a percent sign without two digits behind."""
    return None if re.search(r"%(?![0-9A-Fa-f]{2})", text) else unquote_plus(text)


def _from_base64(text: str) -> str:
    return base64.b64decode(text, validate=True).decode()


@evaluator("TRIM")
def _trim(call: Call, side: Literal, characters: Literal, text: Literal) -> str:
    strip = {"BOTH": str.strip, "LEADING": str.lstrip, "TRAILING": str.rstrip}[side.value]
    return strip(text.value, characters.value)


@evaluator("HEX")
def _hex(call: Call, operand: Literal) -> str:
    if operand.type.root in INTEGERS:
        return format(operand.value % 2**64, "X")
    text: str = operand.value
    return text.encode().hex().upper()


declare(
    {
        "UPPER": str.upper,
        "LOWER": str.lower,
        "CHAR_LENGTH": len,
        "REVERSE": lambda text: text[::-1],
        "CONCAT": lambda *parts: "".join(parts),
        "CONCAT_WS": lambda separator, *parts: separator.join(parts),
        "SUBSTRING": _substring,
        "SUBSTR": _substring,
        "LTRIM": lambda text, characters=" ": text.lstrip(characters),
        "RTRIM": lambda text, characters=" ": text.rstrip(characters),
        "BTRIM": lambda text, characters=" ": text.strip(characters),
        "LPAD": lambda text, length, fill: _padded(text, length, fill, left=True),
        "RPAD": lambda text, length, fill: _padded(text, length, fill, left=False),
        "REPLACE": _replace,
        "REPEAT": _repeat,
        "POSITION": lambda part, text: text.find(part) + 1,
        "LOCATE": _locate,
        "INSTR": lambda text, part, *rest: _instr(text, part, *rest) if rest else text.find(part) + 1,
        "INET_ATON": _inet_aton,
        "INET_NTOA": _inet_ntoa,
        "LEFT": lambda text, length: text[: max(length, 0)],
        "RIGHT": lambda text, length: text[-length:] if length > 0 else "",
        "INITCAP": _initcap,
        "ASCII": _ascii,
        "CHR": lambda code: chr(code % 256) if code >= 0 else "",
        "SPLIT_INDEX": _split_index,
        "IS_ALPHA": _is_alpha,
        "IS_DIGIT": _is_digit,
        "IS_DECIMAL": _is_decimal,
        "ENCODE": _encode,
        "DECODE": _decode,
        "OVERLAY": _overlay,
        "TRANSLATE3": _translate,
        "STARTSWITH": lambda text, start: text.startswith(start),
        "ENDSWITH": lambda text, end: text.endswith(end),
        "BIN": lambda number: format(number % 2**64, "b"),
        "MD5": lambda text: hashlib.md5(text.encode()).hexdigest(),
        "SHA1": lambda text: hashlib.sha1(text.encode()).hexdigest(),
        "SHA224": lambda text: hashlib.sha224(text.encode()).hexdigest(),
        "SHA256": lambda text: hashlib.sha256(text.encode()).hexdigest(),
        "SHA384": lambda text: hashlib.sha384(text.encode()).hexdigest(),
        "SHA512": lambda text: hashlib.sha512(text.encode()).hexdigest(),
        "SHA2": lambda text, bits: hashlib.new(f"sha{bits or 256}", text.encode()).hexdigest(),
        "TO_BASE64": lambda text: base64.b64encode(text.encode()).decode(),
        "FROM_BASE64": _from_base64,
        "UNHEX": _unhex,
        "URL_ENCODE": quote_plus,
        "URL_DECODE": _url_decode,
        "PARSE_URL": _parse_url,
        "ELT": lambda index, *texts: texts[index - 1] if 0 < index <= len(texts) else None,
    }
)

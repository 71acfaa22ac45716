"""Digests."""

from __future__ import annotations

from ..types import char, varchar
from .registry import declare
from .rules import if_null, signature

for _name, _digits in (("MD5", 32), ("SHA1", 40), ("SHA224", 56), ("SHA256", 64), ("SHA384", 96), ("SHA512", 128)):
    declare(_name, signature("STRING"), if_null(char(_digits)), masks=True)
declare("SHA2", signature("STRING", "INTEGER"), if_null(varchar(128)), masks=True)

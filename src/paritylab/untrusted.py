"""Files that come from elsewhere, read under limits: TOML here, the others by xorfind."""

import re
import tomllib
from pathlib import Path
from typing import Any

from xorfind.untrusted import (
    DEEPEST,
    as_text,
    check_archive,
    check_plain,
    parse_json,
    printable,
    read_bytes,
    read_json,
)

__all__ = ["check_archive", "parse_json", "printable", "read_bytes", "read_json", "read_toml"]

#: Bytes of a TOML file, whose reader is slow on hostile input, and parts of a dotted key.
LARGEST_TOML, _MOST_PARTS = 1 << 20, 32
#: Whole numbers of TOML fit a machine word.
_LARGEST_WORD = 2**63
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')\s*+\.\s*+"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}){{{_MOST_PARTS}}}")


def read_toml(path: str | Path) -> dict[str, Any]:
    """The table in a TOML file."""
    text = as_text(read_bytes(path, LARGEST_TOML))
    if _LONG_KEY.search(text):
        raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"it is nested deeper than {DEEPEST}") from None
    check_plain(table, _LARGEST_WORD)
    return table

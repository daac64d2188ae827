"""Files that come from elsewhere, read under limits: TOML here, the others by xorfind."""

import tomllib
from pathlib import Path
from typing import Any

from xorfind.untrusted import as_text, check_archive, parse_json, printable, read_bytes, read_json

__all__ = ["check_archive", "parse_json", "printable", "read_bytes", "read_json", "read_toml"]

#: Bytes of a TOML file; on longer hostile ones its reader takes more than a few seconds.
LARGEST_TOML = 1 << 15


def read_toml(path: str | Path) -> dict[str, Any]:
    """The table in a TOML file."""
    text = as_text(read_bytes(path, LARGEST_TOML))
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None

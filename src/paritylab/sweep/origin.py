"""Marks by which results of one's own are told from those that came with a folder."""

import hashlib
import hmac
import json
import os
from collections.abc import Mapping
from functools import cache

from paritylab.files import user_folder

#: The entry of a stored row that holds its mark.
MARK = "mark"


def marked(key: str, row: Mapping[str, object]) -> Mapping[str, object]:
    """The row with a mark that only this user's installation can make; as it is without a key."""
    secret = _secret()
    return row if secret is None else {**row, MARK: _mark(secret, key, row)}


def is_own(key: str, row: Mapping[str, object]) -> bool:
    """Whether a row read from a store carries the right mark for its key and contents."""
    secret, rest = _secret(), {name: value for name, value in row.items() if name != MARK}
    given = str(row.get(MARK, ""))
    return secret is not None and hmac.compare_digest(given, _mark(secret, key, rest))


def _mark(secret: bytes, key: str, row: Mapping[str, object]) -> str:
    text = json.dumps([key, dict(row)], sort_keys=True)
    return hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()


def _secret() -> bytes | None:
    folder = user_folder()
    return None if folder is None else _read_secret(str(folder / "mark.key"))


@cache
def _read_secret(path: str) -> bytes | None:
    """32 random bytes, made on first use, that nobody else can read."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        pass
    except OSError:
        return None
    else:
        with os.fdopen(handle, "wb") as stream:
            stream.write(os.urandom(32))
    try:
        with open(path, "rb") as stream:
            secret = stream.read(64)
    except OSError:
        return None
    return secret if len(secret) == 32 else None

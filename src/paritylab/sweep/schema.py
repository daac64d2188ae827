"""What a store looks like inside: its tables, its marks, and how older ones are brought up to date.

Every row carries a checksum over its other columns, so that a flipped bit is noticed when the row
is read, and a whole row can be told from a broken one even where the file around it is damaged.
"""

import hashlib
import sqlite3
from collections.abc import Sequence
from functools import cache

#: 1 kept verdicts only; 2 added blocks; 3 their fingerprint; 4 checksums. Older stores are brought
#: up to date when opened.
VERSION = 4
#: Written into the file's header ("PLab"): tells a store from any other sqlite file.
APPLICATION = 0x504C6162

VERDICT = ("key", "id", "saved", "row")
BLOCK = (
    *("key", "hash", "cell", "spec", "status", "seconds", "device", "versions", "saved"),
    *("rows", "fingerprint"),
)
COLUMNS = {"verdicts": VERDICT, "blocks": BLOCK}

_SCHEMA = (
    "CREATE TABLE verdicts (key TEXT PRIMARY KEY, id TEXT NOT NULL, saved TEXT NOT NULL, "
    "row TEXT NOT NULL, checksum TEXT NOT NULL)",
    "CREATE TABLE blocks (key TEXT PRIMARY KEY, hash TEXT NOT NULL, cell TEXT NOT NULL, "
    "spec TEXT NOT NULL, status TEXT NOT NULL, seconds REAL NOT NULL, device TEXT NOT NULL, "
    "versions TEXT NOT NULL, saved TEXT NOT NULL, rows TEXT NOT NULL, fingerprint TEXT NOT NULL, "
    "checksum TEXT NOT NULL)",
)

#: Version 2 called the runs per block width, and block was the number of the block.
_RENAMED = """
UPDATE blocks SET spec = json_remove(json_set(spec,
    '$.first', json_extract(spec, '$.block') * json_extract(spec, '$.width'),
    '$.block', json_extract(spec, '$.width')), '$.width')
"""


#: What a column of a row holds, and a row.
Column = str | float | bytes | None
Columns = tuple[Column, ...]


def checksum(values: Sequence[Column]) -> str:
    """Of a row's columns in their order, the checksum itself left out."""
    text = "\x1f".join(map(repr, values))
    return hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def refusal(connection: sqlite3.Connection) -> str | None:
    """Why the file behind a connection is no store of this version or an older one; None if it is.

    Changes nothing.
    """
    connection.execute("BEGIN")  # marks and tables of one moment: the store may be new right now
    try:
        (version, application), tables = _marks(connection), _tables(connection)
    finally:
        connection.rollback()
    if not tables and version == application == 0:
        return None  # new, or its writer was killed before its first table
    if application not in (0, APPLICATION) or version == 0:
        return "it is a database of another program"
    if version > VERSION:
        return (
            f"it was written by a newer paritylab (store version {version}, this one reads "
            f"{VERSION}); upgrade paritylab"
        )
    if application == 0:
        named = {"verdicts"} if version == 1 else {"verdicts", "blocks"}
        return (
            None if set(tables) == named and version < VERSION else "its tables are not a store's"
        )
    if version < VERSION or tables != _expected():
        return "its tables are damaged or not a store's"
    return None


def is_older(connection: sqlite3.Connection) -> bool:
    """Whether `prepare` would change the file."""
    return _marks(connection) != (VERSION, APPLICATION)


def prepare(connection: sqlite3.Connection) -> None:
    """Make the tables of a new file, or bring an older store up to date, in one transaction."""
    if not is_older(connection):
        return
    connection.execute("BEGIN IMMEDIATE")  # of two processes, the second finds it done
    with connection:
        version, _ = _marks(connection)
        if version == VERSION:
            return
        if version == 2:
            connection.execute("ALTER TABLE blocks ADD COLUMN fingerprint TEXT NOT NULL DEFAULT ''")
            connection.execute(_RENAMED)
        old = list(_tables(connection))
        for table in old:
            connection.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
        for statement in _SCHEMA:
            connection.execute(statement)
        for table in old:
            _copy(connection, table)
            connection.execute(f"DROP TABLE old_{table}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")


def insertion(table: str, clash: str) -> str:
    """The statement that enters a row with its checksum. clash: IGNORE or REPLACE."""
    names = (*COLUMNS[table], "checksum")
    marks = ", ".join("?" * len(names))
    return f"INSERT OR {clash} INTO {table} ({', '.join(names)}) VALUES ({marks})"


def _copy(connection: sqlite3.Connection, table: str) -> None:
    for row in connection.execute(f"SELECT {', '.join(COLUMNS[table])} FROM old_{table}"):
        connection.execute(insertion(table, "IGNORE"), (*row, checksum(row)))


def _marks(connection: sqlite3.Connection) -> tuple[int, int]:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    return version, connection.execute("PRAGMA application_id").fetchone()[0]


def _tables(connection: sqlite3.Connection) -> dict[str, str]:
    """The statement behind every table, and behind anything else but sqlite's own indices."""
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return dict(found.fetchall())


@cache
def _expected() -> dict[str, str]:
    connection = sqlite3.connect(":memory:")
    for statement in _SCHEMA:
        connection.execute(statement)
    found = _tables(connection)
    connection.close()
    return found

"""The results store: one sqlite file that survives crashes and refuses what it cannot read."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from paritylab.sweep.spec import Spec

#: 1 kept verdicts only; 2 added blocks; 3 their fingerprint. Older stores are brought up to date
#: when opened.
SCHEMA_VERSION = 3

_SCHEMA = """
CREATE TABLE IF NOT EXISTS verdicts (
    key TEXT PRIMARY KEY, id TEXT NOT NULL, saved TEXT NOT NULL DEFAULT (datetime('now')),
    row TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS blocks (
    key TEXT PRIMARY KEY, hash TEXT NOT NULL, cell TEXT NOT NULL, spec TEXT NOT NULL,
    status TEXT NOT NULL, seconds REAL NOT NULL, device TEXT NOT NULL, versions TEXT NOT NULL,
    saved TEXT NOT NULL DEFAULT (datetime('now')), rows TEXT NOT NULL,
    fingerprint TEXT NOT NULL DEFAULT ''
);
"""

#: Version 2 called the runs per block width, and block was the number of the block.
_RENAMED = """
UPDATE blocks SET spec = json_remove(json_set(spec,
    '$.first', json_extract(spec, '$.block') * json_extract(spec, '$.width'),
    '$.block', json_extract(spec, '$.width')), '$.width')
"""


class StoreError(ValueError):
    """The store cannot be used; the message says why and what to do."""


class Store:
    """Results in one sqlite file; every write is one transaction.

    Write-ahead logging lets several processes read and write at once. Where the file system does
    not support it (some network disks), sqlite's rollback journal is used instead: slower, as safe.
    """

    def __init__(self, path: str | Path, *, wal: bool = True):
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"cannot create the folder {self.path.parent}: {error.strerror}; "
                "choose another with --store"
            ) from None
        with self._translated():
            self._connection = sqlite3.connect(self.path, timeout=60)
            try:
                self.journal = self._set_journal(wal)
                self._prepare()
            except BaseException:
                self._connection.close()
                raise

    def verdict(self, key: str) -> dict[str, Any] | None:
        """The stored row of a verdict, or None."""
        found = self._one("SELECT row FROM verdicts WHERE key = ?", key)
        return None if found is None else json.loads(found[0])

    def save_verdict(self, key: str, row: dict[str, Any]) -> None:
        """Keep a verdict's row under its key, replacing an older one."""
        text = json.dumps(row, allow_nan=False)
        with self._translated(), self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO verdicts (key, id, row) VALUES (?, ?, ?)",
                (key, row["id"], text),
            )

    def finished_blocks(self) -> set[str]:
        """Keys of all finished blocks."""
        with self._translated():
            return {row[0] for row in self._connection.execute("SELECT key FROM blocks")}

    def save_block(
        self,
        key: str,
        spec: Spec,
        rows: list[dict[str, Any]],
        facts: dict[str, Any],
        *,
        replace: bool = False,
    ) -> bool:
        """Keep a finished block, whole or not at all; False if another process was first."""
        columns = {
            "key": key,
            "hash": spec.hash,
            "cell": spec.cell,
            "spec": json.dumps(spec.plain(), allow_nan=False),
            **facts,
            "versions": json.dumps(facts["versions"]),
            "rows": json.dumps(rows, allow_nan=False),
        }
        clash = "REPLACE" if replace else "IGNORE"
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        with self._translated(), self._connection:
            done = self._connection.execute(
                f"INSERT OR {clash} INTO blocks ({names}) VALUES ({marks})",
                tuple(columns.values()),
            )
        return done.rowcount == 1

    def blocks(self) -> Iterator[dict[str, Any]]:
        """Every finished block with its rows, in the order of cells and blocks."""
        names = [
            "cell",
            "spec",
            "status",
            "seconds",
            "device",
            "versions",
            "rows",
            "hash",
            "key",
            "fingerprint",
        ]
        query = (
            f"SELECT {', '.join(names)} FROM blocks "
            "ORDER BY cell, json_extract(spec, '$.seed'), json_extract(spec, '$.first'), key"
        )
        with self._translated():
            for row in self._connection.execute(query):
                block = dict(zip(names, row, strict=True))
                yield block | {name: json.loads(block[name]) for name in names[len(plain) :]}

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _one(self, query: str, *arguments: str):
        with self._translated():
            return self._connection.execute(query, arguments).fetchone()

    def _set_journal(self, wal: bool) -> str:
        mode = "delete"
        if wal:
            try:
                mode = self._connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
            except sqlite3.OperationalError as error:
                if "readonly" in str(error) or "unable to open" in str(error):
                    raise
                mode = "delete"
        if mode != "wal":
            mode = self._connection.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
        # WAL keeps the file consistent under kill -9 with the cheaper setting; the rollback
        # journal needs the stricter one.
        self._connection.execute(f"PRAGMA synchronous={'NORMAL' if mode == 'wal' else 'FULL'}")
        return mode

    def _prepare(self) -> None:
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} was written by a newer paritylab (store version {version}, this one "
                f"reads {SCHEMA_VERSION}); upgrade paritylab or choose another --store"
            )
        damage = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if damage != "ok":
            raise sqlite3.DatabaseError(f"damaged ({damage})")
        if version < SCHEMA_VERSION:
            with self._connection:
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    self._connection.execute(statement)
                if version == 2:
                    self._connection.execute(
                        "ALTER TABLE blocks ADD COLUMN fingerprint TEXT NOT NULL DEFAULT ''"
                    )
                    self._connection.execute(_RENAMED)
                self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise StoreError(
                f"cannot use the store {self.path}: {error}; {_advice(str(error))}"
            ) from None


def _advice(problem: str) -> str:
    if "full" in problem:
        return "free some disk space and run again; what is stored is kept"
    if "readonly" in problem or "unable to open" in problem:
        return "make the file and its folder writable or choose another --store"
    if "locked" in problem:
        return "another process holds it; run again when that one is done"
    return "move the file away or choose another --store"


def open_store(path: str | Path) -> Store:
    """The store at the path; a new folder for it is kept out of version control."""
    path = Path(path)
    new_folder = not path.parent.exists()
    store = Store(path)
    if new_folder:
        (path.parent / ".gitignore").write_text("*\n")
    return store

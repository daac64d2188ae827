"""The results store: one sqlite file that survives crashes and refuses what it cannot read."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

SCHEMA_VERSION = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS verdicts (
    key TEXT PRIMARY KEY, id TEXT NOT NULL, saved TEXT NOT NULL DEFAULT (datetime('now')),
    row TEXT NOT NULL
);
"""


class StoreError(ValueError):
    """The store cannot be used; the message says why and what to do."""


class Store:
    """Results in one sqlite file; every write is one transaction."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"cannot create the folder {self.path.parent}: {error.strerror}; "
                "choose another with --store"
            ) from None
        with self._translated():
            self._connection = sqlite3.connect(self.path, timeout=30)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._prepare()

    def verdict(self, key: str) -> dict[str, Any] | None:
        """The stored row of a verdict, or None."""
        with self._translated():
            found = self._connection.execute(
                "SELECT row FROM verdicts WHERE key = ?", (key,)
            ).fetchone()
        return None if found is None else json.loads(found[0])

    def save_verdict(self, key: str, row: dict[str, Any]) -> None:
        """Keep a verdict's row under its key, replacing an older one."""
        text = json.dumps(row, allow_nan=False)
        with self._translated(), self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO verdicts (key, id, row) VALUES (?, ?, ?)",
                (key, row["id"], text),
            )

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _prepare(self) -> None:
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} was written by a newer paritylab (store version {version}, this one "
                f"reads {SCHEMA_VERSION}); upgrade paritylab or choose another --store"
            )
        with self._connection:
            self._connection.executescript(_SCHEMA)
            self._connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            advice = (
                "make the folder writable or choose another --store"
                if isinstance(error, sqlite3.OperationalError)
                else "move the file away or choose another --store"
            )
            raise StoreError(f"cannot use the store {self.path}: {error}; {advice}") from None


def open_store(path: str | Path) -> Store:
    """The store at the path; a new folder for it is kept out of version control."""
    path = Path(path)
    new_folder = not path.parent.exists()
    store = Store(path)
    if new_folder:
        (path.parent / ".gitignore").write_text("*\n")
    return store

"""The results store: one sqlite file with two tables, the blocks of sweeps and verdicts.

Every write is one transaction, so kill -9, a full disk or Ctrl-C lose nothing that was finished.
A damaged file is refused in one line that says how to get its rows back; it is never repaired here.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, Self

from paritylab._support.safe_io import printable

#: Both numbers are in the file's header; the second ("PLab") tells a store from any other sqlite
#: file.
VERSION, APPLICATION = 4, 0x504C6162
#: Seconds to wait for another process that writes.
PATIENCE = 60.0
#: What to do, by words of sqlite or the system.
_ADVICE = {
    ("full", "No space"): "free some disk space and run again; what is stored is kept",
    ("readonly", "unable to open", "ermission"): (
        "make the file and its folder writable or choose another --store"
    ),
    ("locked",): "another process holds it; run again when that one is done",
    ("disk I/O",): "see to the disk and run again; what is stored is kept",
}
_VERDICT = ("key", "id", "saved", "row")
_BLOCK = (
    *("key", "hash", "cell", "spec", "status", "seconds", "device", "versions", "saved"),
    *("rows", "fingerprint"),
)
_COLUMNS = {"verdicts": _VERDICT, "blocks": _BLOCK}
_TABLES = tuple(
    f"CREATE TABLE {table} (key TEXT PRIMARY KEY, "
    + ", ".join(f"{n} {'REAL' if n == 'seconds' else 'TEXT'} NOT NULL" for n in names[1:])
    + ", checksum TEXT NOT NULL)"
    for table, names in _COLUMNS.items()
)


#: A stored block by column: spec and rows as plain values, seconds of its computation, versions by
#: library, the fingerprint of the code, and so on.
Block = dict[str, Any]


class BlockSpec(Protocol):
    """What names a block of runs, such as `paritylab.sweep.Spec`."""

    @property
    def hash(self) -> str: ...

    @property
    def cell(self) -> str: ...

    def plain(self) -> dict[str, Any]: ...


class StoreError(ValueError):
    """The store cannot be used; the message says why and what to do."""


class Store:
    """Results in one sqlite file; several processes may read and write it at once.

    reading: only read; the file need not be writable. A folder that is made for a store is kept out
    of version control.
    """

    def __init__(self, path: str | Path, *, reading: bool = False) -> None:
        self.path = Path(path)
        if self.path.exists() and not self.path.is_file():
            name = printable(str(self.path))
            raise StoreError(f"{name} is not an ordinary file; choose another --store")
        if reading and not self.path.exists():
            raise StoreError(f"no store {self.path}")
        with self._translated():
            if not reading and not self.path.parent.exists():
                self.path.parent.mkdir(parents=True, exist_ok=True)
                (self.path.parent / ".gitignore").write_text("*\n")
            address = f"{self.path.absolute().as_uri()}?mode={'rw' if reading else 'rwc'}"
            self._connection = sqlite3.connect(address, uri=True, timeout=PATIENCE)
            try:
                if self._is_empty():
                    self._make_tables(reading)
            except BaseException:
                self._connection.close()
                raise

    def _is_empty(self) -> bool:
        """Whether the file has no tables yet; damage and files of other programs are refused."""
        damage = self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if damage != "ok":
            raise sqlite3.DatabaseError(f"damaged ({' '.join(str(damage).split())})")
        with self._connection:  # one look: another process may be making the tables just now
            self._connection.execute("BEGIN")
            tables = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            version = self._connection.execute("PRAGMA user_version").fetchone()[0]
            application = self._connection.execute("PRAGMA application_id").fetchone()[0]
        if (version, application) == (VERSION, APPLICATION) or not (tables or version):
            return not tables
        kind = f"a store of version {version}" if application == APPLICATION else "something else"
        raise StoreError(
            f"cannot use the store {self.path}: it is {kind}, this paritylab reads version "
            f"{VERSION}; use the program that wrote it, or choose another --store"
        )

    def _make_tables(self, reading: bool) -> None:
        """Of two processes the second finds them made; one that only reads leaves the file alone,
        whose writer ended before its first table was there."""
        if reading:
            self._connection.close()
            self._connection = sqlite3.connect(":memory:")
        self._connection.execute("BEGIN IMMEDIATE")
        with self._connection:
            if self._connection.execute("PRAGMA user_version").fetchone()[0] == 0:
                for statement in _TABLES:
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
                self._connection.execute(f"PRAGMA user_version = {VERSION}")

    def verdict(self, key: str) -> dict[str, Any] | None:
        """The stored row of a verdict, or None."""
        row = next(self._rows("verdicts", "WHERE key = ?", key), None)
        return None if row is None else json.loads(row["row"])

    def save_verdict(self, key: str, row: Mapping[str, object]) -> None:
        """Keep a verdict's row under its key, replacing an older one."""
        text = json.dumps(row, allow_nan=False)
        facts = {"key": key, "id": str(row["id"]), "saved": _now(), "row": text}
        self._save("verdicts", facts, "REPLACE")

    def is_finished(self, key: str) -> bool:
        """Whether a block is there, perhaps saved by another process meanwhile."""
        with self._translated():
            found = self._connection.execute("SELECT 1 FROM blocks WHERE key = ?", (key,))
            return found.fetchone() is not None

    def has_blocks(self) -> bool:
        """Whether any block of a sweep is stored."""
        with self._translated():
            return self._connection.execute("SELECT 1 FROM blocks LIMIT 1").fetchone() is not None

    def save_block(
        self,
        key: str,
        spec: BlockSpec,
        rows: Sequence[Mapping[str, object]],
        facts: Mapping[str, Any],
        *,
        replace: bool = False,
    ) -> bool:
        """Keep a finished block, whole or not at all; False if another process was first.

        facts: status, seconds, device, versions and fingerprint.
        """
        named = {"key": key, "hash": spec.hash, "cell": spec.cell, "saved": _now()}
        texts = {"spec": spec.plain(), "rows": rows, "versions": facts["versions"]}
        columns = {name: json.dumps(value, allow_nan=False) for name, value in texts.items()}
        every = {**facts, **named, **columns, "seconds": float(facts["seconds"])}
        return self._save("blocks", every, "REPLACE" if replace else "IGNORE")

    def blocks(self) -> Iterator[Block]:
        """Every finished block with its rows, in the order of cells and blocks."""
        order = "ORDER BY cell, json_extract(spec, '$.seed'), json_extract(spec, '$.first'), key"
        for row in self._rows("blocks", order):
            yield row | {name: json.loads(row[name]) for name in ("spec", "versions", "rows")}

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _save(self, table: str, facts: Mapping[str, str | float], clash: str) -> bool:
        values = tuple(facts[name] for name in _COLUMNS[table])
        marks = ", ".join("?" * (len(values) + 1))
        names = ", ".join((*_COLUMNS[table], "checksum"))
        statement = f"INSERT OR {clash} INTO {table} ({names}) VALUES ({marks})"
        with self._translated(), self._connection:
            done = self._connection.execute(statement, (*values, _checksum(values)))
        return done.rowcount == 1

    def _rows(self, table: str, rest: str = "", *arguments: str) -> Iterator[dict[str, Any]]:
        """Rows whose checksums are right; sqlite itself does not notice a flipped bit in a text."""
        names = _COLUMNS[table]
        query = f"SELECT {', '.join(names)}, checksum FROM {table} {rest}"
        with self._translated():
            for *values, mark in self._connection.execute(query, arguments):
                if mark != _checksum(values):
                    raise sqlite3.DatabaseError("a row is damaged")
                yield dict(zip(names, values, strict=True))

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Whatever sqlite or the disk says, in one line with what to do."""
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeDecodeError, MemoryError) as error:
            reason = (error.strerror if isinstance(error, OSError) else str(error)) or "damaged"
            raise StoreError(
                f"cannot use the store {self.path}: {reason}; {self._advice(reason)}"
            ) from None

    def _advice(self, problem: str) -> str:
        for words, advice in _ADVICE.items():
            if any(word in problem for word in words):
                return advice
        return (
            f"get back what is whole with sqlite3 {self.path} .recover | sqlite3 NEW.db, "
            "then move the file away, or choose another --store"
        )


def _checksum(values: Sequence[object]) -> str:
    """Of a row's columns in their order, the checksum itself left out."""
    text = "\x1f".join(map(repr, values))
    return hashlib.blake2b(text.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")

"""The results store: one sqlite file that survives crashes and refuses what it cannot trust."""

import json
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypedDict, cast

from paritylab.sweep import origin, schema
from paritylab.sweep.schema import Column, Columns
from paritylab.sweep.spec import PlainSpec, Spec
from paritylab.untrusted import printable

SCHEMA_VERSION = schema.VERSION


class BlockFacts(TypedDict):
    """How a block was made: "done", seconds of its computation, the device, versions by library
    and the fingerprint of the code."""

    status: str
    seconds: float
    device: str
    versions: dict[str, str]
    fingerprint: str


class StoredBlock(BlockFacts):
    """A block as it is read back: its key, the hash of its spec, its cell, spec and rows; own:
    whether this user's installation saved it, and it did not come with the store."""

    key: str
    hash: str
    cell: str
    spec: PlainSpec
    saved: str
    rows: list[dict[str, object]]
    own: bool


class StoreError(ValueError):
    """The store cannot be used; the message says why and what to do."""


class Store:
    """Results in one sqlite file; every write is one transaction, every row carries a checksum.

    Write-ahead logging lets several processes read and write at once. Where the file system does
    not support it (some network disks), sqlite's rollback journal is used instead: slower, as safe.
    reading: only read; works on files and folders without write permission.
    """

    _connection: sqlite3.Connection

    def __init__(self, path: str | Path, *, wal: bool = True, reading: bool = False) -> None:
        self.path = Path(path)
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        if self.path.exists() and not self.path.is_file():
            raise StoreError(
                f"{printable(str(self.path))} is not an ordinary file; choose another --store"
            )
        if not reading:
            self._make_folder()
        elif not self.path.exists():
            raise StoreError(f"no store {self.path}")
        with self._translated():
            try:
                self._open(wal, reading)
                self._check_integrity()
            except BaseException:
                self.close()
                raise

    def _open(self, wal: bool, reading: bool) -> None:
        if self.path.exists():
            self._check_schema()
        if reading:
            self._connection = self._open_for_reading()
            if schema.is_older(self._connection):
                self._connection.close()
                self._connection = self._open_copy()
                schema.prepare(self._connection)
            return
        self._connection = sqlite3.connect(self.path, timeout=60)
        self.journal = self._set_journal(wal)
        schema.prepare(self._connection)

    def verdict(self, key: str) -> dict[str, Any] | None:
        """The stored row of a verdict, or None."""
        for row in self._rows("verdicts", "WHERE key = ?", key):
            found: dict[str, Any] = json.loads(str(row["row"]))
            return found
        return None

    def save_verdict(self, key: str, row: Mapping[str, object]) -> None:
        """Keep a verdict's row under its key, replacing an older one."""
        text = json.dumps(row, allow_nan=False)
        facts: dict[str, Column] = {"key": key, "id": str(row["id"]), "saved": _now(), "row": text}
        self._save("verdicts", facts, "REPLACE")

    def finished_blocks(self) -> set[str]:
        """Keys of all finished blocks, whose rows are whole."""
        return {str(row["key"]) for row in self._rows("blocks")}

    def is_finished(self, key: str) -> bool:
        """Whether a block is there, perhaps saved by another process meanwhile."""
        with self._translated():
            found = self._connection.execute("SELECT 1 FROM blocks WHERE key = ?", (key,))
            return found.fetchone() is not None

    def save_block(
        self,
        key: str,
        spec: Spec,
        rows: Sequence[Mapping[str, object]],
        facts: BlockFacts,
        *,
        replace: bool = False,
    ) -> bool:
        """Keep a finished block, whole or not at all; False if another process was first."""
        columns: dict[str, Column] = {
            "key": key,
            "hash": spec.hash,
            "cell": spec.cell,
            "spec": json.dumps(spec.plain(), allow_nan=False),
            "status": facts["status"],
            "seconds": float(facts["seconds"]),
            "device": facts["device"],
            "versions": json.dumps(facts["versions"]),
            "saved": _now(),
            "rows": json.dumps(rows, allow_nan=False),
            "fingerprint": facts["fingerprint"],
        }
        mark = origin.marked(key, columns).get(origin.MARK, "")
        columns["versions"] = json.dumps({**facts["versions"], origin.MARK: mark})
        return self._save("blocks", columns, "REPLACE" if replace else "IGNORE")

    def blocks(self) -> Iterator[StoredBlock]:
        """Every finished block with its rows, in the order of cells and blocks."""
        order = "ORDER BY cell, json_extract(spec, '$.seed'), json_extract(spec, '$.first'), key"
        for row in self._rows("blocks", order):
            parsed = {n: json.loads(str(row[n])) for n in ("spec", "versions", "rows")}
            if [type(part) for part in parsed.values()] != [dict, dict, list]:
                raise StoreError(f"cannot use the store {self.path}: a block is not one of ours")
            mark = parsed["versions"].pop(origin.MARK, "")
            plain = row | {"versions": json.dumps(parsed["versions"]), origin.MARK: mark}
            own = origin.is_own(str(row["key"]), plain)
            yield cast(StoredBlock, row | parsed | {"own": own})

    def enter(self, rows: Iterable[tuple[str, Columns]]) -> None:
        """Rows of another store as they are, with their tables and checksums, all or none."""
        with self._translated(), self._connection:
            for table, row in rows:
                self._connection.execute(schema.insertion(table, "IGNORE"), row)

    def close(self) -> None:
        connection = getattr(self, "_connection", None)
        if connection is not None:
            connection.close()
        if self._copy is not None:
            self._copy.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _save(self, table: str, facts: Mapping[str, Column], clash: str) -> bool:
        values = tuple(facts[name] for name in schema.COLUMNS[table])
        with self._translated(), self._connection:
            done = self._connection.execute(
                schema.insertion(table, clash), (*values, schema.checksum(values))
            )
        return done.rowcount == 1

    def _rows(self, table: str, rest: str = "", *arguments: str) -> Iterator[dict[str, Column]]:
        """Rows whose checksums are right; a wrong one or a key seen twice ends the reading."""
        names, seen = schema.COLUMNS[table], set()
        query = f"SELECT {', '.join(names)}, checksum FROM {table} {rest}"
        with self._translated():
            for *values, mark in self._connection.execute(query, arguments):
                if mark != schema.checksum(values) or values[0] in seen:
                    raise sqlite3.DatabaseError("a row is damaged")
                seen.add(values[0])
                yield dict(zip(names, values, strict=True))

    def _make_folder(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"cannot create the folder {self.path.parent}: {error.strerror}; "
                "choose another with --store"
            ) from None

    def _check_schema(self) -> None:
        """Refuse files of other programs before a byte of them is changed."""
        with closing(self._open_for_reading()) as connection:
            reason = schema.refusal(connection)
        if reason is not None:
            raise StoreError(f"cannot use the store {self.path}: {reason}; choose another --store")

    def _open_for_reading(self) -> sqlite3.Connection:
        """Read-only where sqlite can; else of a copy, since a log may need to be merged first."""
        address = f"{self.path.absolute().as_uri()}?mode=ro"
        try:
            connection = sqlite3.connect(address, uri=True, timeout=60)
            try:
                connection.execute("SELECT name FROM sqlite_master").fetchall()
                return connection
            except BaseException:
                connection.close()
                raise
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise
        return self._open_copy()

    def _open_copy(self) -> sqlite3.Connection:
        if self._copy is None:
            self._copy = tempfile.TemporaryDirectory(prefix="paritylab-")
        there = Path(self._copy.name) / "store.db"
        for ending in ("", "-wal"):
            beside = Path(f"{self.path}{ending}")
            if ending == "" or beside.exists():
                shutil.copyfile(beside, f"{there}{ending}")
        return sqlite3.connect(there)

    def _set_journal(self, wal: bool) -> str:
        mode = "delete"
        if wal:
            try:
                mode = self._in_turn("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError as error:
                if any(words in str(error) for words in ("readonly", "unable to open", "full")):
                    raise
        if mode != "wal":
            mode = self._in_turn("PRAGMA journal_mode=DELETE")
        # WAL keeps the file consistent under kill -9 with the cheaper setting; the rollback
        # journal needs the stricter one.
        self._connection.execute(f"PRAGMA synchronous={'NORMAL' if mode == 'wal' else 'FULL'}")
        return mode

    def _in_turn(self, pragma: str) -> str:
        """The journal's mode needs the file for itself, and sqlite does not wait for that."""
        deadline = time.monotonic() + 30
        while True:
            try:
                return str(self._connection.execute(pragma).fetchone()[0])
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def _check_integrity(self) -> None:
        damage = self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if damage != "ok":
            raise sqlite3.DatabaseError(f"damaged ({' '.join(damage.split())})")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, UnicodeDecodeError, MemoryError) as error:
            # Damage shows as bad letters or absurd sizes, too.
            reason = (error.strerror if isinstance(error, OSError) else str(error)) or "damaged"
            raise StoreError(
                f"cannot use the store {self.path}: {reason}; {self._advice(str(error))}"
            ) from None

    def _advice(self, problem: str) -> str:
        if "full" in problem or "No space" in problem:
            return "free some disk space and run again; what is stored is kept"
        if "readonly" in problem or "unable to open" in problem or "Permission" in problem:
            return "make the file and its folder writable or choose another --store"
        if "locked" in problem:
            return "another process holds it; run again when that one is done"
        if "disk I/O" in problem:
            return "see to the disk and run again; what is stored is kept"
        return (
            f"save what is whole with paritylab sweep rescue {self.path} --to NEW.db, "
            "then move the file away, or choose another --store"
        )


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")


def open_store(path: str | Path, *, reading: bool = False) -> Store:
    """The store at the path; a new folder for it is kept out of version control."""
    path = Path(path)
    new_folder = not path.parent.exists()
    store = Store(path, reading=reading)
    if new_folder:
        (path.parent / ".gitignore").write_text("*\n")
    return store

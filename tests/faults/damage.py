"""Truncated and bit-flipped stores: refused or right, never silently wrong; whole rows rescued."""

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

from tests.faults import work
from tests.faults.drivers import MARK, Plan, Tally, new_folder

from paritylab.sweep.rescue import rescue
from paritylab.sweep.runner import block_key
from paritylab.sweep.store import Store, StoreError

VERDICTS = {f"verdict {i}": {"id": "x", "series": "y" * 2500 * i} for i in range(4)}


def truncated(attempts: int, parent: Path) -> Tally:
    """Cut off anywhere; a file cut to nothing is a new one and is left out."""

    def cut(content: bytes, draw: random.Random) -> bytes:
        return content[: draw.randrange(1, len(content))]

    return _damaged("store truncated", cut, attempts, parent)


def flipped(attempts: int, parent: Path) -> Tally:
    """One bit, or five, or fifty; in every third file all of them in its first page."""

    def flip(content: bytes, draw: random.Random) -> bytes:
        changed = bytearray(content)
        end = 4096 if draw.randrange(3) == 0 else len(content)
        for _ in range(draw.choice([1, 1, 5, 50])):
            changed[draw.randrange(end)] ^= 1 << draw.randrange(8)
        return bytes(changed)

    return _damaged("bits of a store flipped", flip, attempts, parent)


def log_damaged(attempts: int, parent: Path) -> Tally:
    """The write-ahead log of a store cut off or flipped: some blocks may be gone, none is wrong."""
    tally, draw = Tally("write-ahead log cut or flipped"), random.Random(attempts)
    plan = Plan(new_folder(parent, "log"), blocks=40)
    with Store(plan.store) as store:
        _fill(plan, store)
        content = plan.store.read_bytes()
        log = Path(f"{plan.store}-wal").read_bytes()  # as a crash would leave it
    truth = _read(plan.store)
    for number in range(attempts):
        tally.attempts += 1
        _remove(plan.store)
        plan.store.write_bytes(content)
        broken = bytearray(log[: draw.randrange(len(log))] if number % 2 else log)
        if number % 2 == 0:
            broken[draw.randrange(len(broken))] ^= 1 << draw.randrange(8)
        Path(f"{plan.store}-wal").write_bytes(bytes(broken))
        try:
            found = _read(plan.store)
        except StoreError as error:
            tally.notes["refused"] += 1
            tally.tracebacks += "\n" in str(error)
            continue
        tally.wrong += any(truth.get(key) != value for key, value in found.items())
        tally.notes["rows there"] += len(found)
        tally.notes["rows gone"] += len(truth) - len(found)
    return tally


def _damaged(
    name: str, change: Callable[[bytes, random.Random], bytes], attempts: int, parent: Path
) -> Tally:
    tally, draw = Tally(name), random.Random(name)
    plan = Plan(new_folder(parent, "damage"), blocks=40)
    truth = _make(plan)
    content = plan.store.read_bytes()
    for _ in range(attempts):
        tally.attempts += 1
        broken = change(content, draw)
        _remove(plan.store)
        plan.store.write_bytes(broken)
        try:
            found = _read(plan.store)
            tally.wrong += found != truth
            tally.notes["harmless" if found == truth else "silently wrong"] += 1
        except StoreError as error:
            tally.notes["refused"] += 1
            tally.tracebacks += "\n" in str(error)
        _remove(plan.store)
        plan.store.write_bytes(broken)
        _rescue(plan, truth, broken, content, tally)
    return tally


def _rescue(
    plan: Plan, truth: dict[str, object], broken: bytes, content: bytes, tally: Tally
) -> None:
    """Nothing wrong comes through, and every row whose bytes are all there does."""
    new = plan.folder / "rescued.db"
    _remove(new)
    try:
        rescue(plan.store, new)
        saved = _read(new)
    except StoreError:
        saved = {}
    tally.wrong += any(truth.get(key) != value for key, value in saved.items())
    tally.notes["rows rescued"] += len(saved)
    tally.notes["rows not whole"] += len(truth) - len(saved)
    untouched = [key for key in truth if _is_untouched(key, broken, content)]
    tally.lost += len(set(untouched) - set(saved))


def _is_untouched(key: str, broken: bytes, content: bytes) -> bool:
    """Whether the pages that hold a row's key are as they were; conservative for long rows."""
    sizes = 4096
    places = [i for i in range(0, len(content), sizes) if key.encode() in content[i : i + sizes]]
    return (
        key in _SHORT
        and bool(places)
        and all(broken[i : i + sizes] == content[i : i + sizes] for i in places)
    )


_SHORT: set[str] = set()


def _make(plan: Plan) -> dict[str, object]:
    with Store(plan.store) as store:
        _fill(plan, store)
    return _read(plan.store)


def _fill(plan: Plan, store: Store) -> None:
    facts = {"status": "done", "seconds": 1, "device": "cpu", "versions": {}, "fingerprint": MARK}
    for spec in plan.specs():
        key, rows = block_key(spec, MARK), work.true_rows(spec)
        store.save_block(key, spec, rows, facts)
        if len(rows) < 10:
            _SHORT.add(key)
    for key, row in VERDICTS.items():
        store.save_verdict(key, row)


def _read(path: Path) -> dict[str, object]:
    """All there is, the way commands read it."""
    with Store(path) as store:
        found: dict[str, object] = {block["key"]: block["rows"] for block in store.blocks()}
        if store.finished_blocks() != set(found):
            found["keys"] = "differ"
        rows = {key: store.verdict(key) for key in VERDICTS}
        return found | {key: row for key, row in rows.items() if row is not None}


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{ending}").unlink(missing_ok=True)


def foreign(parent: Path) -> Tally:
    """Files of other programs are refused and keep every byte."""
    tally, folder = Tally("foreign files as a store"), new_folder(parent, "foreign")
    path = folder / "other.db"
    statements = ["CREATE TABLE x (y)", "CREATE TABLE blocks (y)", "PRAGMA user_version = 3"]
    statements += ["PRAGMA application_id = 7", "CREATE VIEW verdicts AS SELECT 1"]
    texts = [b"not a database", b"\0" * 5000, b"SQLite format 3\0" + b"\xff" * 4096]
    for statement in [*statements, *texts]:
        _remove(path)
        if isinstance(statement, bytes):
            path.write_bytes(statement)
        else:
            connection = sqlite3.connect(path)
            connection.execute(statement)
            connection.commit()
            connection.close()
        before = path.read_bytes()
        for reading in (True, False):
            tally.attempts += 1
            try:
                Store(path, reading=reading).close()
                tally.wrong += 1
                tally.notes[f"accepted: {statement!r}"] += 1
            except StoreError as error:
                tally.tracebacks += "\n" in str(error)
            tally.wrong += path.read_bytes() != before
    return tally

"""Solvers of hidden parities: recovery, false discoveries, speed, and others beside them.

    python benchmarks/solvers.py recovery [--tables 20]
    python benchmarks/solvers.py null [--tables 1000]
    python benchmarks/solvers.py elimination [--library path]

Each part prints a table. Rows are 1.5 times the least with power 0.99 at level 0.01 unless said
otherwise. Without libm4ri its line is left out. Other tools: rivals.py.
"""

import argparse
import ctypes
import ctypes.util
import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from planted import planted

from xorfind import rows_needed, solve
from xorfind.gf2 import echelon
from xorfind.rows import packed
from xorfind.statistics import Rate, rate_interval

# Recovery.

CASES = [
    (20, 3, 0.0, True),
    (20, 3, 0.1, True),
    (20, 3, 0.3, True),
    (200, 3, 0.0, True),
    (200, 3, 0.2, True),
    (200, 3, 0.2, False),
    (1000, 2, 0.3, True),
    (1000, 3, 0.1, True),
    (300, 4, 0.1, True),
    (100, 5, 0.05, True),
]


def recovery(tables: int) -> None:
    print(
        "n k noise | least rows, rows used | found | wrong | seconds: median, worst | "
        "seconds of the processor | method"
    )
    for n, k, noise, known in CASES:
        least = rows_needed(n, k, noise, known=known)
        report(n, k, noise, least, int(1.5 * least), tables, k if known else None)
    least = 5000 + 30
    report(5000, 2500, 0.0, least, 5064, tables, None)
    report(5000, 3, 0.0, least, 5064, tables, None)
    fewest(tables)


def report(
    n: int, k: int, noise: float, least: int, rows: int, tables: int, told: int | None
) -> None:
    found, wrong, seconds, busy, method = 0, 0, [], [], ""
    for seed in range(tables):
        case = planted(n, k, noise, rows, seed)
        start, used = time.perf_counter(), time.process_time()
        answer = solve(case.bits, case.labels, k=told, budget=120)
        seconds.append(time.perf_counter() - start)
        busy.append(time.process_time() - used)
        found += answer.subset == case.subset
        wrong += answer.subset not in (None, case.subset)
        method = answer.method
    size = f"{k}" if told else f"{k} (not told)"
    print(
        f"{n} {size} {noise} | {least}, {rows} | {Rate(found, tables)} | {wrong} | "
        f"{np.median(seconds):.3f}, {max(seconds):.3f} | {np.median(busy):.3f} | {method}",
        flush=True,
    )


def fewest(tables: int, n: int = 32, k: int = 5) -> None:
    """Clean rows one by one: when one subset is left, and when it is supported."""
    single, supported, listed = [], [], []
    for seed in range(tables):
        case = planted(n, k, 0.0, 60, seed)
        alone = 0
        for rows in range(10, 61):
            bits, labels = case.bits[:rows], case.labels[:rows]
            answer = solve(bits, labels, k=k, method="meeting")
            fits = len(answer.equivalents) + 1
            if rows == 16:
                listed.append(fits)
            alone = alone or (rows if fits == 1 else 0)
            if answer.subset == case.subset:
                break
        single.append(alone)
        supported.append(rows)
    print(
        f"{n} {k} without noise, rows one by one: one subset is left after {np.median(single):.0f} "
        f"rows (at most {max(single)}), supported at level 0.01 after {np.median(supported):.0f} "
        f"(at most {max(supported)}; {rows_needed(n, k, 0.0)} have power 0.99); with 16 rows "
        f"{np.median(listed):.0f} subsets fit and are listed"
    )


# False discoveries.


class Study(NamedTuple):
    """A method on tables without a parity and with one.

    share: of the tables asked for, by what it costs. noise: of the parity that it should find.
    """

    method: str
    k: int | None
    share: float = 1.0
    noise: float = 0.1
    budget: float = 5.0


STUDIES = [
    Study("auto", None),
    Study("auto", 3),
    Study("walsh", None),
    Study("correlation", 3),
    Study("restarts", None, noise=0.0),
    Study("meeting", 3, noise=0.0),
    Study("correlation", None, share=0.05),
    Study("elimination", None, share=0.05, budget=0.1),
]


def null(tables: int) -> None:
    """False discoveries at level 0.05, and how often a parity is found in such tables."""
    print(
        "method | k told | columns | false of tables [95 %] | most allowed | "
        "noise, parities found, another named | time per table without one"
    )
    for study in STUDIES:
        for columns in ("fair", "biased and chained"):
            count, start = max(1, int(study.share * tables)), time.process_time()
            false = sum(
                asked(study, *unrelated(columns, seed)[:2]) is not None for seed in range(count)
            )
            taken = (time.process_time() - start) / count
            right, another, of = found(study, columns, max(1, count // 10))
            low, high = rate_interval(false, count, method="exact")
            allowed = int(count * 0.05 + 3 * math.sqrt(count * 0.05 * 0.95))
            print(
                f"{study.method} | {study.k or '–'} | {columns} | {false} of {count:,} "
                f"[{low:.2%}, {high:.2%}] | {allowed} | {study.noise}, {Rate(right, of)}, "
                f"{another} | {1000 * taken:.0f} ms",
                flush=True,
            )


def asked(study: Study, bits: np.ndarray, labels: np.ndarray) -> tuple[int, ...] | None:
    options = {"method": study.method, "k": study.k, "budget": study.budget}
    return solve(bits, labels, alpha=0.05, **options).subset


def found(study: Study, columns: str, tables: int) -> tuple[int, int, int]:
    """How often a noisy parity of the size told (3 if none is) is recovered, or another named."""
    right, another = 0, 0
    for seed in range(tables):
        bits, _, generator = unrelated(columns, seed)
        subset = tuple(sorted(generator.choice(bits.shape[1], study.k or 3, replace=False)))
        labels = 1 - 2 * (bits[:, subset].sum(axis=1) % 2).astype(int)
        labels[generator.random(len(labels)) < study.noise] *= -1
        named = asked(study, bits, labels)
        right += named == subset
        another += named not in (None, subset)
    return right, another, tables


def unrelated(columns: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """8, 12 or 16 columns, 64, 120 or 200 rows, labels drawn on their own.

    Fair: fair bits and labels. Otherwise columns are 1 with their own chance of 2 to 40 %, half of
    the rows copy the column to the left, and labels are +1 in 50, 80 or 95 % of the rows.
    """
    generator = np.random.default_rng([seed, len(columns)])
    n, rows = int(generator.choice([8, 12, 16])), int(generator.choice([64, 120, 200]))
    fair = columns == "fair"
    bias = np.full(n, 0.5) if fair else generator.uniform(0.02, 0.4, n)
    bits = (generator.random((rows, n)) < bias).astype(np.uint8)
    for column in range(1, 0 if fair else n):
        copied = generator.random(rows) < 0.5
        bits[copied, column] = bits[copied, column - 1]
    plus = 0.5 if fair else (0.5, 0.8, 0.95)[seed % 3]
    return bits, np.where(generator.random(rows) < plus, 1, -1), generator


# Elimination beside libm4ri.


def elimination(library: str | None) -> None:
    ours, theirs = {}, {}
    for n in (1024, 2048, 4096, 5000):
        bits = np.random.default_rng(n).integers(0, 2, (n, n), dtype=np.uint8)
        words = packed(bits)
        ours[n] = fastest(lambda words=words, n=n: echelon(words, n))
        theirs[n] = m4ri_seconds(n, library)
    for n, seconds in ours.items():
        beside = theirs[n]
        text = "libm4ri is not installed" if beside is None else f"{seconds / beside:.1f} × libm4ri"
        print(f"echelon form of {n} × {n}: {seconds:.3f} s; {text}")


def fastest(call: Callable[[], Any], times: int = 3) -> float:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return min(taken)


def m4ri_seconds(n: int, path: str | None) -> float | None:
    """Seconds of libm4ri's mzd_echelonize (not reduced) on a random matrix of the same size."""
    name = path or ctypes.util.find_library("m4ri")
    if name is None:
        return None
    library = ctypes.CDLL(name)
    library.mzd_init.restype = ctypes.c_void_p
    library.mzd_init.argtypes = [ctypes.c_int, ctypes.c_int]
    library.mzd_randomize.argtypes = [ctypes.c_void_p]
    library.mzd_echelonize.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.mzd_free.argtypes = [ctypes.c_void_p]

    def once() -> float:
        matrix = library.mzd_init(n, n)
        library.mzd_randomize(matrix)
        start = time.perf_counter()
        library.mzd_echelonize(matrix, 0)
        taken = time.perf_counter() - start
        library.mzd_free(matrix)
        return taken

    return min(once() for _ in range(3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["recovery", "null", "elimination"])
    parser.add_argument("--tables", type=int)
    parser.add_argument("--library", help="path of libm4ri, where the system does not find it")
    given = parser.parse_args()
    if given.part == "recovery":
        recovery(given.tables or 20)
    elif given.part == "null":
        null(given.tables or 1000)
    else:
        elimination(given.library)


if __name__ == "__main__":
    main()

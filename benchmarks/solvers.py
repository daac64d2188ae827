"""Solvers of hidden parities: recovery, false discoveries, speed, and others beside them.

    python benchmarks/solvers.py recovery [--tables 20]
    python benchmarks/solvers.py null [--tables 1000]
    python benchmarks/solvers.py device [--seconds 60]
    python benchmarks/solvers.py elimination [--library path]
    python benchmarks/solvers.py others [--tables 5]

Each part prints a table. Rows are 1.5 times the least with power 0.99 at level 0.01 unless said
otherwise. What is not installed (libm4ri, galois, skrebate, scikit-learn) is left out with a line.
"""

import argparse
import ctypes
import ctypes.util
import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from paritylab.solvers import detectable_noise, rows_needed, solve
from paritylab.solvers.correlation import count_subsets
from paritylab.solvers.gf2 import echelon
from paritylab.solvers.table import Table, packed
from paritylab.statistics import Rate, rate_interval


class Planted(NamedTuple):
    bits: np.ndarray
    labels: np.ndarray
    subset: tuple[int, ...]


def planted(n: int, k: int, noise: float, rows: int, seed: int) -> Planted:
    generator = np.random.default_rng([seed, n, k, rows])
    bits = generator.integers(0, 2, (rows, n), dtype=np.uint8)
    subset = tuple(sorted(generator.choice(n, k, replace=False).tolist()))
    labels = 1 - 2 * (bits[:, subset].sum(axis=1) % 2).astype(np.int8)
    return Planted(bits, np.where(generator.random(rows) < noise, -labels, labels), subset)


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


def null(tables: int) -> None:
    print("columns | labels +1 | tables | false discoveries [95 % interval] at level 0.05")
    for columns in ("fair", "biased", "chained"):
        for plus in (0.5, 0.8, 0.95):
            false = 0
            for seed in range(tables):
                bits, labels = unrelated(columns, plus, seed)
                false += solve(bits, labels, alpha=0.05, budget=0.3).subset is not None
            low, high = rate_interval(false, tables, method="exact")
            print(f"{columns} | {plus} | {tables} | {false} [{low:.4f}, {high:.4f}]", flush=True)


def unrelated(columns: str, plus: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """8 to 40 columns and 40 to 200 rows, labels drawn on their own."""
    generator = np.random.default_rng([seed, int(100 * plus)])
    n, rows = int(generator.integers(8, 41)), int(generator.integers(40, 201))
    bias = generator.uniform(0.02, 0.4, n) if columns == "biased" else np.full(n, 0.5)
    bits = (generator.random((rows, n)) < bias).astype(np.uint8)
    if columns == "chained":
        for column in range(1, n):
            copied = generator.random(rows) < 0.85
            bits[copied, column] = bits[copied, column - 1]
    return bits, np.where(generator.random(rows) < plus, 1, -1)


# An accelerator.


def device(seconds: float) -> None:
    import jax

    from paritylab.solvers.device import device_correlate

    print(f"{jax.devices()[0].device_kind}; up to {seconds:.0f} s for each case")
    peak = product_rate(8192, 8192, 8192)
    print(f"int8 product 8192³: {peak:.3g} multiplications and additions a second")
    for n, k, noise in [(1024, 4, 0.3), (256, 6, 0.25), (128, 8, 0.2)]:
        rows = int(1.2 * rows_needed(n, k, noise))
        case = planted(n, k, noise, rows, 0)
        signs = Table(case.bits, case.labels).signs
        room = -(-rows // 32) * 32
        same = product_rate(4096, 65536, room)
        for attempt in ("first", "warm"):
            start = time.perf_counter()
            found = device_correlate(signs, case.labels, k, deadline=start + seconds)
            taken = time.perf_counter() - start
            work = 2.0 * rows * found.examined / taken
            print(
                f"n={n} k={k} noise={noise} rows={rows} ({attempt}): {taken:.2f} s, "
                f"{found.examined / count_subsets(n, k):.1%} of {count_subsets(n, k):.3g} subsets, "
                f"{work:.3g} a second = {work / peak:.1%} of the int8 rate, {work / same:.1%} of "
                f"a product of the same inner size; found: {found.subsets[0] == case.subset}",
                flush=True,
            )


def product_rate(rows: int, columns: int, inner: int, seconds: float = 1.0) -> float:
    """Multiplications and additions a second of one int8 product with int32 sums."""
    import jax
    import jax.numpy as jnp

    @jax.jit
    def multiply(a: Any, b: Any) -> Any:
        return jax.lax.dot_general(a, b, (((1,), (1,)), ((), ())), preferred_element_type=jnp.int32)

    a, b = jnp.ones((rows, inner), jnp.int8), jnp.ones((columns, inner), jnp.int8)
    multiply(a, b).block_until_ready()
    times, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for _ in range(5):
            made = multiply(a, b)
        made.block_until_ready()
        times += 5
    return 2.0 * rows * columns * inner * times / (time.perf_counter() - start)


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


# Others.


def others(tables: int) -> None:
    print("task | method | found | median seconds")
    for name, case, find in contests():
        found, seconds = 0, []
        try:
            for seed in range(tables):
                table = case(seed)
                start = time.perf_counter()
                found += find(table) == table.subset
                seconds.append(time.perf_counter() - start)
        except ImportError as missing:
            print(f"{name} | left out: {missing.name} is not installed")
            continue
        print(f"{name} | {Rate(found, tables)} | {np.median(seconds):.3f}", flush=True)


def contests() -> list[tuple[str, Callable[[int], Planted], Callable[[Planted], Any]]]:
    """Tasks with one method each; every method is told k."""

    def clean(seed: int) -> Planted:
        return planted(500, 250, 0.0, 564, seed)

    def noisy(seed: int) -> Planted:
        return planted(40, 3, 0.1, 400, seed)

    def pair(seed: int) -> Planted:
        return planted(40, 2, 0.1, 400, seed)

    def ours(case: Planted) -> Any:
        return solve(case.bits, case.labels, k=len(case.subset)).subset

    rows = [("500 columns, half of them, no noise | this library", clean, ours)]
    rows.append(("500 columns, half of them, no noise | galois", clean, by_galois))
    for text, case in (("pair of 40, noise 0.1, 400 rows", pair), ("three of 40", noisy)):
        rows.append((f"{text} | this library", case, ours))
        rows.append((f"{text} | ReliefF (skrebate)", case, by_relief))
        rows.append((f"{text} | ExtraTrees importance", case, by_trees))
        rows.append((f"{text} | MLP by SGD, gradient importance", case, by_network))
    return rows


def top(case: Planted, importance: Any) -> tuple[int, ...]:
    order = np.argsort(-np.asarray(importance), kind="stable")[: len(case.subset)]
    return tuple(sorted(order.tolist()))


def by_galois(case: Planted) -> tuple[int, ...]:
    import galois

    field = galois.GF(2)
    side = (case.labels < 0).astype(np.uint8)[:, None]
    ones = np.ones((len(side), 1), np.uint8)
    reduced = field(np.concatenate([case.bits, ones, side], axis=1)).row_reduce()
    return tuple(np.flatnonzero(np.asarray(reduced)[: case.bits.shape[1], -1]).tolist())


def by_relief(case: Planted) -> tuple[int, ...]:
    from skrebate import ReliefF

    model = ReliefF(n_neighbors=20)
    model.fit(case.bits.astype(float), (case.labels < 0).astype(int))
    return top(case, model.feature_importances_)


def by_trees(case: Planted) -> tuple[int, ...]:
    from sklearn.ensemble import ExtraTreesClassifier

    model = ExtraTreesClassifier(500, random_state=0).fit(case.bits, case.labels)
    return top(case, model.feature_importances_)


def by_network(case: Planted) -> tuple[int, ...]:
    from sklearn.neural_network import MLPClassifier

    model = MLPClassifier((128,), solver="sgd", learning_rate_init=0.1, max_iter=500)
    model.set_params(random_state=0, n_iter_no_change=500)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(1 - 2.0 * case.bits, case.labels)
    return top(case, np.abs(model.coefs_[0]) @ np.abs(model.coefs_[1][:, 0]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "part", choices=["recovery", "null", "device", "elimination", "others", "limits"]
    )
    parser.add_argument("--tables", type=int)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--library", help="path of libm4ri, where the system does not find it")
    given = parser.parse_args()
    if given.part == "recovery":
        recovery(given.tables or 20)
    elif given.part == "null":
        null(given.tables or 1000)
    elif given.part == "device":
        device(given.seconds)
    elif given.part == "elimination":
        elimination(given.library)
    elif given.part == "others":
        others(given.tables or 5)
    else:
        for rows in (50, 100, 200, 500, 1000):
            noise = detectable_noise(200, 3, rows) or math.nan
            print(f"n=200 k=3: {rows} rows show a parity up to {noise:.1%} noise")


if __name__ == "__main__":
    main()

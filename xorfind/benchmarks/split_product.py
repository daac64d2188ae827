"""The split product on an accelerator: `python benchmarks/solvers.py device` runs it."""

import time
from typing import Any

from planted import planted

from xorfind import rows_needed
from xorfind.rows import LabelledRows
from xorfind.solvers.correlation import count_subsets


def device(seconds: float) -> None:
    """The split product by XLA."""
    import jax

    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}; up to {seconds:.0f} s a search")
    peak = product_rate(8192, 8192, 8192)
    print(f"int8 product 8192³: {peak:.3g} multiplications and additions a second")
    same_as_here()
    print("n, k, noise | rows | subsets | first, warm s | share of int8 rate | found")
    for n, k, noise in [(1024, 4, 0.3), (256, 6, 0.25), (128, 8, 0.2)]:
        print(search_line(n, k, noise, seconds, peak), flush=True)


def search_line(n: int, k: int, noise: float, seconds: float, peak: float) -> str:
    from xorfind.solvers.device import device_correlate

    rows = int(1.2 * rows_needed(n, k, noise))
    case, taken = planted(n, k, noise, rows, 0), []
    signs = LabelledRows(case.bits, case.labels).signs
    for _ in ("first", "warm"):
        start = time.perf_counter()
        found = device_correlate(signs, case.labels, k, deadline=start + seconds)
        taken.append(time.perf_counter() - start)
    share = 2.0 * rows * found.examined / taken[-1] / peak
    seen = "" if found.complete else f" ({found.examined / count_subsets(n, k):.1%} searched)"
    return (
        f"{n}, {k}, {noise} | {rows} | {count_subsets(n, k):.3g}{seen} | "
        f"{taken[0]:.2f}, {taken[1]:.2f} | {share:.1%} | {found.subsets[0] == case.subset}"
    )


def same_as_here() -> None:
    """A small table on the device and on the CPU."""
    from xorfind.solvers.correlation import correlate
    from xorfind.solvers.device import device_correlate

    for n, k in [(60, 4), (40, 5)]:
        case = planted(n, k, 0.2, 300, 1)
        signs = LabelledRows(case.bits, case.labels).signs
        plain = correlate(signs, case.labels, k).subsets[0]
        found = device_correlate(signs, case.labels, k).subsets[0]
        print(f"n={n} k={k}: as on the CPU: {found == plain}")


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

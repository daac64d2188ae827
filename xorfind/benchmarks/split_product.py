"""The split product on an accelerator: `python benchmarks/solvers.py device` runs it."""

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from planted import planted

from xorfind import rows_needed
from xorfind.rows import LabelledRows
from xorfind.solvers.correlation import count_subsets

#: Shapes of the kernel that are tried: sums per program, rows per step, warps, steps ahead.
KERNELS = [
    (128, 128, 128, 8, 3),
    (128, 128, 64, 4, 4),
    (128, 256, 64, 8, 4),
    (128, 256, 128, 8, 3),
    (256, 128, 64, 8, 4),
    (64, 256, 64, 4, 4),
]
NAMES = ("HIGH", "BROAD", "INNER", "WARPS", "STAGES")


def device(seconds: float) -> None:
    """The split product by XLA and by the kernel that keeps sums on the chip."""
    import jax

    from xorfind.solvers import device as fused

    print(f"{jax.devices()[0].device_kind}, jax {jax.__version__}; up to {seconds:.0f} s a search")
    peak = product_rate(8192, 8192, 8192)
    print(f"int8 product 8192³: {peak:.3g} multiplications and additions a second")
    kernel = fastest_kernel(peak)
    print(f"the kernel works with its own settings: {fused.works()}; fastest: {kernel}")
    routes = [False] if kernel is None else [False, True]
    if kernel is not None:
        set_kernel(kernel)
        jax.clear_caches()
    same_on_both(routes)
    lines = ["n, k, noise | rows | subsets | route | first, warm s | share of int8 rate | found"]
    for n, k, noise in [(1024, 4, 0.3), (256, 6, 0.25), (128, 8, 0.2)]:
        for on_chip in routes:
            lines.append(search_line(n, k, noise, on_chip, seconds, peak))
            print(lines[-1], flush=True)
    print("\n".join(["", *lines]))


def set_kernel(shape: Sequence[int]) -> None:
    from xorfind.solvers import device as fused

    for name, value in zip(NAMES, shape, strict=True):
        setattr(fused, name, value)


def search_line(n: int, k: int, noise: float, on_chip: bool, seconds: float, peak: float) -> str:
    from xorfind.solvers.device import device_correlate

    rows = int(1.2 * rows_needed(n, k, noise))
    case, taken = planted(n, k, noise, rows, 0), []
    signs = LabelledRows(case.bits, case.labels).signs
    for _ in ("first", "warm"):
        start = time.perf_counter()
        options = {"deadline": start + seconds, "on_chip": on_chip}
        found = device_correlate(signs, case.labels, k, **options)
        taken.append(time.perf_counter() - start)
    share = 2.0 * rows * found.examined / taken[-1] / peak
    seen = "" if found.complete else f" ({found.examined / count_subsets(n, k):.1%} searched)"
    return (
        f"{n}, {k}, {noise} | {rows} | {count_subsets(n, k):.3g}{seen} | "
        f"{'kernel' if on_chip else 'XLA'} | {taken[0]:.2f}, {taken[1]:.2f} | {share:.1%} | "
        f"{found.subsets[0] == case.subset}"
    )


def same_on_both(routes: list[bool]) -> None:
    """Both routes on a small table, beside the search on the CPU."""
    from xorfind.solvers.correlation import correlate
    from xorfind.solvers.device import device_correlate

    for n, k in [(60, 4), (40, 5)]:
        case = planted(n, k, 0.2, 300, 1)
        signs = LabelledRows(case.bits, case.labels).signs
        plain = correlate(signs, case.labels, k).subsets[0]
        for on_chip in routes:
            found = device_correlate(signs, case.labels, k, on_chip=on_chip).subsets[0]
            print(f"n={n} k={k}, {'kernel' if on_chip else 'XLA'}: as on the CPU: {found == plain}")


def fastest_kernel(peak: float) -> tuple[int, ...] | None:
    """The shape of the kernel that is right and fastest on one tile; None if none compiles."""
    import jax
    import jax.numpy as jnp

    from xorfind.solvers import device as fused
    from xorfind.solvers.device import _scores

    generator, rates = np.random.default_rng(0), dict[tuple[int, ...], float]()
    left, right = (
        jnp.asarray(generator.choice([-1, 1], (size, 768)).astype(np.int8))
        for size in (8192, 16384)
    )
    inside = jnp.asarray(np.linspace(16384, 12000, 8192).astype(np.int32))
    expected = float(jnp.max(_scores([left], [right], inside, None)))
    own = [getattr(fused, name) for name in NAMES]
    for shape in KERNELS:
        set_kernel(shape)
        # A new function each time: what is compiled depends on the settings.
        call = jax.jit(partial(fused.largest_sum))
        try:
            exact = int(call(left, right, inside)) == expected
        except Exception as error:
            print(f"kernel {shape}: {type(error).__name__}: {str(error)[:300]}")
            continue
        start = time.perf_counter()
        for _ in range(50):
            made = call(left, right, inside)
        made.block_until_ready()
        rate = 50 * 2.0 * 768 * 8192 * 16384 / (time.perf_counter() - start)
        print(f"kernel {shape}: exact {exact}, {rate / peak:.1%} of the int8 rate", flush=True)
        if exact:
            rates[shape] = rate
    set_kernel(own)
    return max(rates, key=lambda shape: rates[shape]) if rates else None


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

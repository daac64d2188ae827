"""Learning parity with noise by the Walsh transform: every one of 2^n parities at once.

    python benchmarks/lpn.py --n 26 --noise 0.498              one core: `solve(method="walsh")`
    python benchmarks/lpn.py --device --n 30 --noise 0.49      an accelerator, or JAX on this one
    python benchmarks/lpn.py --n 20 22 24 26 --noise 0.49      one line each

Without --rows there are as many rows as the largest of 2^n sums of noise calls for, and three
standard deviations more. On a device rows are drawn there, again for every block, so that memory
depends on --block only: a table of 2^block sums in float32 and its transform. More columns than
--block are guessed: each guess of theirs turns the labels, and one block is transformed. Before
anything is measured a small case is compared with plain sums.
"""

import argparse
import math
import resource
import sys
import time
from functools import partial
from typing import Any, NamedTuple

import numpy as np

HEAD = "where | n | noise | rows | seconds | memory, GiB | largest, next (deviations) | secret"
#: Rows drawn at a time on a device, and bits transformed by one product there.
CHUNK, DIGIT = 1 << 22, 6


class Found(NamedTuple):
    """mask: of the largest |sum| (bit j: column j). largest, second: in standard deviations."""

    mask: int
    largest: float
    second: float


def enough_rows(n: int, noise: float) -> int:
    """Rows at which the parity's sum beats the largest of 2^n sums of noise, and 3 deviations."""
    return math.ceil(((math.sqrt(2 * n * math.log(2)) + 3) / (1 - 2 * noise)) ** 2)


def secret_of(n: int, seed: int) -> int:
    """The hidden mask: each column with chance one half, at least one."""
    bits = np.random.default_rng([seed, n]).integers(0, 2, n)
    return sum(1 << j for j in np.flatnonzero(bits).tolist()) or 1


def on_host(n: int, noise: float, rows: int, seed: int) -> str:
    """One core: rows as a table of bits, `solve`, and what it says."""
    from xorfind import solve

    generator, secret = np.random.default_rng([seed, n, rows]), secret_of(n, seed)
    bits = generator.integers(0, 2, (rows, n), dtype=np.uint8)
    subset = [j for j in range(n) if secret >> j & 1]
    flips = generator.random(rows, dtype=np.float32) < noise
    labels = 1 - 2 * (np.bitwise_xor.reduce(bits[:, subset], axis=1) ^ flips).astype(np.int8)
    start, used = time.perf_counter(), time.process_time()
    answer = solve(bits, labels, method="walsh", budget=3600)
    seconds, busy = time.perf_counter() - start, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << (30 if IS_MAC else 20))
    tall = (2 * answer.best.fitting - rows) / math.sqrt(rows)
    right = "recovered" if answer.subset == tuple(subset) else "NOT recovered"
    return (
        f"one core | {n} | {noise} | {rows:,} | {seconds:.1f} ({busy:.1f} of the processor) | "
        f"{peak:.2f}, table included | {tall:.1f} | {right}"
    )


IS_MAC = sys.platform == "darwin"


def on_device(n: int, noise: float, rows: int, seed: int, block: int, seconds: float) -> str:
    """The device that JAX finds first."""
    import jax

    secret, low = secret_of(n, seed), min(n, block)
    start = time.perf_counter()
    search = compiled(low, rows)
    known = shared(secret, noise, seed)
    jax.block_until_ready(search(0, *known))
    first = time.perf_counter() - start
    start, best, second, guesses = time.perf_counter(), (0.0, 0), 0.0, 1 << (n - low)
    for guess in range(guesses):
        tall, mask, next_one = (each.item() for each in search(guess, *known))
        second = max(second, next_one, min(tall, best[0]))
        best = max(best, (tall, (guess << low) | mask))
        if time.perf_counter() - start > seconds:
            break
    took = time.perf_counter() - start
    whole = "" if guess + 1 == guesses else f" after {guess + 1:,} of {guesses:,} blocks"
    right = "recovered" if best[1] == secret else "NOT recovered"
    stats = jax.devices()[0].memory_stats() or {}
    peak = stats.get("peak_bytes_in_use")
    memory = "unknown" if peak is None else f"{peak / 2**30:.1f}"
    return (
        f"{jax.devices()[0].device_kind} | {n} | {noise} | {rows:,} | {took:.2f} (first block with "
        f"compiling {first:.1f}) | {memory} | {best[0]:.1f}, {second:.1f} | {right}{whole}"
    )


def shared(secret: int, noise: float, seed: int) -> tuple[Any, ...]:
    """What every block is told: secret in two words, noise, key."""
    import jax
    import jax.numpy as jnp

    words = jnp.array([secret & 0xFFFFFFFF, secret >> 32], jnp.uint32)
    return words, jnp.float32(noise), jax.random.key(seed)


def drawn(key: Any, chunk: Any, count: int, secret: Any, noise: Any) -> tuple[Any, Any]:
    """Rows as two words each, (count, 2), and their labels ±1."""
    import jax
    import jax.numpy as jnp

    bits, flips = jax.random.split(jax.random.fold_in(key, chunk))
    words = jax.random.bits(bits, (count, 2), jnp.uint32)
    odd = jax.lax.population_count(words & secret).sum(axis=1) & 1
    wrong = jax.random.uniform(flips, (count,)) < noise
    return words, jnp.where((odd == 1) ^ wrong, -1.0, 1.0).astype(jnp.float32)


def compiled(low: int, rows: int) -> Any:
    """(guess, secret, noise, key) → largest |sum| in deviations, its low bits, the next one."""
    import jax

    return jax.jit(partial(block_search, low=low, rows=rows))


def block_search(
    guess: Any, secret: Any, noise: Any, key: Any, *, low: int, rows: int
) -> tuple[Any, Any, Any]:
    import jax
    import jax.numpy as jnp

    count = min(rows, CHUNK)
    wide = jnp.uint32(jnp.asarray(guess))

    def add(chunk: Any, table: Any) -> Any:
        words, labels = drawn(key, chunk, count, secret, noise)
        inside = chunk * count + jnp.arange(count) < rows if count < rows else True
        # Columns beyond the block: their word shifted down, whichever of the two they lie in.
        high = words[:, 1] << (32 - low) | words[:, 0] >> low if low < 32 else words[:, 1]
        turned = jax.lax.population_count(high & wide) & 1
        signed = jnp.where(inside, jnp.where(turned == 1, -labels, labels), 0.0)
        return table.at[words[:, 0] & jnp.uint32((1 << low) - 1)].add(signed)

    chunks = -(-rows // count)
    table = jax.lax.fori_loop(0, chunks, add, jnp.zeros(1 << low, jnp.float32))
    sums = jnp.abs(transformed(table, low))
    at = sums.argmax()
    largest = sums[at]
    second = jnp.where(jnp.arange(1 << low, dtype=jnp.uint32) == at, 0.0, sums).max()
    spread = math.sqrt(rows)
    return largest / spread, at, second / spread


def transformed(table: Any, bits: int) -> Any:
    """The Walsh transform: each product turns the last digit and moves it to the front."""
    import jax
    import jax.numpy as jnp

    done = 0
    while done < bits:
        step = min(DIGIT, bits - done)
        at = np.arange(1 << step)
        signs = jnp.asarray(1.0 - 2.0 * (np.bitwise_count(at[:, None] & at) & 1), jnp.float32)
        rest = table.reshape(-1, 1 << step)
        table = jnp.matmul(signs, rest.T, precision=jax.lax.Precision.HIGHEST).ravel()
        done += step
    return table


def self_check(n: int = 12, low: int = 8, rows: int = 3000) -> None:
    """A small case in blocks against sums taken one mask at a time."""
    secret, noise, seed = secret_of(n, 7), 0.3, 7
    known = shared(secret, noise, seed)
    words, labels = (np.asarray(x) for x in drawn(known[2], 0, rows, known[0], known[1]))
    codes = words[:, 0].astype(np.int64) & ((1 << n) - 1)
    odd = np.bitwise_count(np.arange(1 << n)[:, None] & codes[None]) & 1
    sums = np.abs((1.0 - 2.0 * odd) @ labels)
    search = compiled(low, rows)
    for guess in range(1 << (n - low)):
        tall, mask, second = (each.item() for each in search(guess, *known))
        part = sums[guess << low : (guess + 1) << low]
        told, want = (tall, second), np.sort(part)[::-1][:2] / math.sqrt(rows)
        if not np.allclose(told, want, rtol=1e-4) or not math.isclose(part[mask], part.max()):
            raise SystemExit(f"self-check: block {guess} says {told}, plain sums say {want}")
    if int(sums.argmax()) != secret:
        raise SystemExit(f"self-check: plain sums say {int(sums.argmax())}, hidden is {secret}")
    print(f"self-check: {1 << (n - low)} blocks of 2^{low} equal plain sums of {rows} rows")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, nargs="+", default=[26], help="columns, up to block + 32")
    parser.add_argument("--noise", type=float, nargs="+", default=[0.498], help="below 0.5")
    parser.add_argument("--rows", type=int, help="enough for the noise if absent")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", action="store_true", help="on the first device of JAX")
    parser.add_argument("--block", type=int, default=30, help="bits of one table (4 bytes · 2^b)")
    parser.add_argument("--seconds", type=float, default=540, help="most per line, on a device")
    asked = parser.parse_args()
    if not all(0 <= noise < 0.5 for noise in asked.noise):
        parser.error(f"--noise must lie within 0 and 0.5, got {asked.noise}")
    most = asked.block + 32 if asked.device else 26
    if not all(1 <= n <= most for n in asked.n) or not 1 <= asked.block <= 30:
        parser.error(f"need 1 ≤ n ≤ {most} and 1 ≤ block ≤ 30, got {asked.n} and {asked.block}")
    if asked.device:
        self_check()
    print(HEAD, flush=True)
    for n in asked.n:
        for noise in asked.noise:
            rows = asked.rows or enough_rows(n, noise)
            if asked.device:
                line = on_device(n, noise, rows, asked.seed, asked.block, asked.seconds)
            else:
                line = on_host(n, noise, rows, asked.seed)
            print(line, flush=True)


if __name__ == "__main__":
    main()

"""The sums behind a wide step: whole numbers that never overflow, kept on disk between calls."""

import json
from pathlib import Path
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from paritylab.files import write_atomically

LARGEST = 2**31 - 1
#: What the low part of a sum in two numbers holds.
_LOW = 2**16


class Wide(NamedTuple):
    """What compiled code is specialised on; rows: of a batch."""

    n: int
    k: int
    columns: int
    rows: int

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """First and last (exclusive) node of every block; node k - 1 is empty."""
        starts = range(0, self.k, self.columns)
        return [(start, min(start + self.columns, self.k)) for start in starts]


class Sums(NamedTuple):
    """The sums of a block: products + 2^16·high, high only once int32 got too small.

    sizes: Σ|R| per node since then, which bounds every product.
    """

    products: Int[Array, "tokens nodes"]
    sizes: Float[Array, " nodes"]
    high: Int[Array, "tokens nodes"] | None = None


def no_sums(shape: Wide, checkpoint: Path | None) -> list[Sums]:
    """Zeros to begin with; makes the checkpoint's folder."""
    if checkpoint is not None:
        checkpoint.mkdir(parents=True, exist_ok=True)
    return [
        Sums(
            jnp.zeros((shape.n + end, end - start), jnp.int32),
            jnp.zeros(end - start, jnp.float32),
        )
        for start, end in shape.blocks
    ]


def with_room(state: list[Sums], coming: int) -> list[Sums]:
    """The same sums, moved to two numbers each where what is coming could overflow one."""
    largest = max(float(each.sizes.max()) for each in state)
    return [_flushed(each) for each in state] if largest + coming > LARGEST else state


@eqx.filter_jit(donate="all")
def _flushed(sums: Sums) -> Sums:
    above = sums.products // _LOW
    high = above if sums.high is None else sums.high + above
    return Sums(sums.products - above * _LOW, jnp.full_like(sums.sizes, _LOW), high)


def total_of(sums: Sums) -> Array:
    """Whole numbers, or float32 where they outgrew int32."""
    if sums.high is None:
        return sums.products
    return sums.high.astype(jnp.float32) * _LOW + sums.products


def save_sums(folder: Path, state: list[Sums], shape: Wide, samples: int, batch: int) -> None:
    """The sums after so many batches; the old ones stay until the new ones are complete."""
    for number, sums in enumerate(state):
        for name, values in sums._asdict().items():
            if values is None:
                continue
            np.save(folder / f"{batch}-{number}-{name}.npy", np.asarray(values))
    facts = {"shape": list(shape), "samples": samples, "batch": batch}
    write_atomically(folder / "at.json", json.dumps(facts))
    for old in folder.glob("*.npy"):
        if not old.name.startswith(f"{batch}-"):
            old.unlink()


def resume_sums(folder: Path, shape: Wide, samples: int) -> tuple[list[Sums], int]:
    """The sums in a folder and how many batches they are of."""
    try:
        facts = json.loads((folder / "at.json").read_text())
        batch = int(facts["batch"])
        if facts["shape"] != list(shape) or facts["samples"] != samples:
            raise ValueError(f"it is of another step: {facts}")
        files = {each.name: each for each in folder.glob(f"{batch}-*.npy")}
        state = [
            Sums(
                **{
                    name: np.load(files[f"{batch}-{number}-{name}.npy"])
                    for name in Sums._fields
                    if name != "high" or f"{batch}-{number}-high.npy" in files
                }
            )
            for number in range(len(shape.blocks))
        ]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"cannot go on from {folder}: {error}") from None
    return state, batch

"""The parts of the XOR step that a user may replace, and the units of its step size."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from paritylab.learning.xor.exact import first_gradient, first_response
from paritylab.models import XOR_READOUTS
from paritylab.models.attention import Kind
from paritylab.models.readouts import Readout
from paritylab.precision import float64
from paritylab.problem import Loss, Parity, as_loss


def unit_step(
    n: int,
    *,
    attention: str | Kind = "softmax",
    readout: str | Readout = "square",
    loss: Any = "squared",
) -> float:
    """The step size at which one exact step gives the pair a score of 1 above the rest, up to the
    overlaps of positions: 2/(dα/dscore · signal). A gain multiplies it.

    >>> round(unit_step(100), 6)  # n²/2 for softmax, 1 - 2z² and ½(ŷ-y)²
    5000.0
    """
    weight, slope = first_response(attention, n)
    first = first_gradient(
        n, xor_label, 2, as_xor_readout(readout), as_xor_loss(loss), weight=weight
    )
    if not first.signal > 0:
        raise ValueError(
            f"at w = 0 this readout and loss do not raise the pair (signal {first.signal:.3g}), so "
            "a gain has no unit; use an optimiser with a step size of its own, such as adam"
        )
    return 2 / (slope * first.signal)


def default_gain(n: int) -> float:
    """A gain inside the window of softmax for every width that ranks the pair.

    2·ln n silences n positions whose scores stay below half of the pair's; the 6 is for accuracy.
    """
    return 2 * float(np.log(n)) + 6


def usual_width(n: int) -> int:
    """12·ln n: enough to rank the pair in every draw tried."""
    return int(np.ceil(12 * np.log(n)))


def xor_label(signs: np.ndarray) -> float:
    """y = -x_0·x_1."""
    return float(-signs[0] * signs[1])


def as_xor_readout(readout: str | Readout) -> Readout:
    """A readout of the mean z of two signs from its name; an even function of z passes."""
    if isinstance(readout, str):
        if readout not in XOR_READOUTS:
            raise ValueError(
                f"readout must be one of {', '.join(XOR_READOUTS)} or an even function of z, "
                f"got {readout!r}"
            )
        return XOR_READOUTS[readout]
    if not callable(readout):
        raise ValueError(f"readout must be a name or an even function of z, got {readout!r}")
    z = np.linspace(-1, 1, 64)
    try:
        with float64():
            values = np.asarray(readout(jnp.asarray(z)))
    except Exception as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ValueError(
            f"the readout fails on numbers z: {reason}; write it with jax.numpy, entry by entry"
        ) from None
    if values.shape != z.shape or not np.isfinite(values).all():
        raise ValueError(
            f"the readout must give one finite number per z in [-1, 1]; it turned {z.shape} into "
            f"{values.shape}"
        )
    if np.abs(values - values[::-1]).max() > 1e-9 * max(1.0, np.abs(values).max()):
        raise ValueError("the readout must be even in z: z and -z mean the same XOR")
    return readout


def as_xor_loss(loss: Any) -> Loss:
    """A loss by name, a `Loss`, or a function of (y, ŷ)."""
    if callable(loss) and not isinstance(loss, Loss):
        return Loss(getattr(loss, "__name__", type(loss).__name__), loss)
    return as_loss(loss)


def _described(target: Any) -> str:
    return repr(target) if isinstance(target, Parity) else f"a {type(target).__name__}"


def check_pairs(targets: Any) -> None:
    """One clear error unless every target is y = -x_i·x_j among others."""
    for target in targets:
        pair = isinstance(target, Parity) and target.k == 2 and target.sign == -1
        if not pair:
            raise ValueError(
                "XorStep learns y = -x_i·x_j: give Parity(n, (i, j), sign=-1), such as "
                f"random_parities(n, 2, runs, sign=-1); got {_described(target)}"
            )
    if targets[0].n < 3:
        raise ValueError(f"the XOR of two bits among others needs n ≥ 3, got n={targets[0].n}")

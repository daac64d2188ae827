"""The parts of the XOR step that a user may replace, and the units of its step size."""

import jax
import jax.numpy as jnp
import numpy as np

from paritylab.checks import shortened
from paritylab.learning.data import Target
from paritylab.learning.parts import AttentionPart, LossPart, ReadoutPart
from paritylab.learning.xor.exact import first_gradient, first_response
from paritylab.models import XOR_READOUTS
from paritylab.models.readouts import Readout
from paritylab.precision import check_scalar_function, float64
from paritylab.problem import Parity, as_loss


def unit_step(
    n: int,
    *,
    attention: AttentionPart = "softmax",
    readout: ReadoutPart = "square",
    loss: LossPart = "squared",
) -> float:
    """The step size at which one exact step gives the pair a score of 1 above the rest, up to the
    overlaps of positions: 2/(dα/dscore · signal). A gain multiplies it.

    >>> round(unit_step(100), 6)  # n²/2 for softmax, 1 - 2z² and ½(ŷ-y)²
    5000.0
    """
    weight, slope = first_response(attention, n)
    first = first_gradient(n, xor_label, 2, as_xor_readout(readout), as_loss(loss), weight=weight)
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


def as_xor_readout(readout: ReadoutPart) -> Readout:
    """A readout of the mean z of two signs from its name; an even function of z passes."""
    if isinstance(readout, str) and readout in XOR_READOUTS:
        return XOR_READOUTS[readout]
    if not callable(readout):
        known = ", ".join(XOR_READOUTS)
        raise ValueError(f"readout must be {known} or an even function, got {shortened(readout)}")
    check_scalar_function("the readout", readout, 1)
    with float64():
        values = np.asarray(jax.vmap(readout)(jnp.linspace(-1, 1, 64)))
    if not np.isfinite(values).all():
        raise ValueError("the readout must be finite for every z in [-1, 1]")
    if np.abs(values - values[::-1]).max() > 1e-9 * max(1.0, np.abs(values).max()):
        raise ValueError("the readout must be even in z: z and -z mean the same XOR")
    return readout


def pairs_of(targets: tuple[Target, ...]) -> tuple[Parity, ...]:
    """The targets, or one clear error unless every one is y = -x_i·x_j among others."""
    pairs = []
    for target in targets:
        if not isinstance(target, Parity) or target.k != 2 or target.sign != -1:
            shown = target if isinstance(target, Parity) else f"a {type(target).__name__}"
            raise ValueError(
                "XorStep learns y = -x_i·x_j: give Parity(n, (i, j), sign=-1), such as "
                f"random_parities(n, 2, runs, sign=-1); got {shown}"
            )
        pairs.append(target)
    if pairs[0].n < 3:
        raise ValueError(f"the XOR of two bits among others needs n ≥ 3, got n={pairs[0].n}")
    return tuple(pairs)

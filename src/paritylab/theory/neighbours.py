"""Sign descent with z^k (Kou, Chen, Gu, Kakade) in closed form."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float


class SignPath(NamedTuple):
    """|w| after 0, 1, … steps: on B where a_r = Π w, on B where a_r = -Π w (signed), off B."""

    kept: Float[np.ndarray, " steps"]
    lost: Float[np.ndarray, " steps"]
    off: Float[np.ndarray, " steps"]


def sign_path(k: int, eta: float, decay: float, threshold: float, steps: int) -> SignPath:
    """Sign descent on the population from w(0) ∈ {±1}^n, in closed form: three numbers a step.

    All k weights of a neuron on B move together. Off B nothing but the decay acts. threshold: in
    units of k!.

    >>> path = sign_path(3, 0.1, 1.0, 0.1, 40)
    >>> [round(float(part[-1]), 3) for part in path]
    [1.0, 0.007, 0.015]
    """
    kept, lost = [1.0], [1.0]
    for _ in range(steps):
        for values, way in ((kept, 1), (lost, -1)):
            signal = values[-1] ** (k - 1)
            push = 0.0 if abs(signal) < threshold else way * math.copysign(1, signal)
            values.append((1 - eta * decay) * values[-1] + eta * push)
    off = (1 - eta * decay) ** np.arange(steps + 1)
    return SignPath(np.array(kept), np.array(lost), off)

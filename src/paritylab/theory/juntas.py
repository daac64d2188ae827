"""What heads read out by cos(πs) can see of a function of a few bits.

For fair bits and attention weights g of sum k, s = Σ_j g_j x_j,

    E[f cos πs] = Σ_S f̂(S)·cos(π(k - |S|)/2)·Π_{j∈S} sin(πg_j/2)·Π_{j∉S} cos(πg_j/2).

Sets whose size differs from k by an odd number never enter, whatever the weights.
"""

import numpy as np

from paritylab.problem import Junta


def visible(junta: Junta) -> dict[tuple[int, ...], float]:
    """The Fourier coefficients that k heads see: sets of size k, k - 2, …

    >>> visible(Junta.not_all_equal(9, (1, 4, 7)))
    {}
    >>> visible(Junta.majority(9, (1, 4, 7)))
    {(1,): 0.5, (4,): 0.5, (7,): 0.5, (1, 4, 7): -0.5}
    """
    return {s: c for s, c in junta.fourier().items() if (junta.k - len(s)) % 2 == 0}


def pulls(junta: Junta) -> dict[int, float]:
    """How strongly each hidden bit attracts heads that still look everywhere, to leading order in
    1/n: ± the sum of the visible coefficients of the lowest nonempty degree whose sets hold it.

    A step from equal weights raises the log-correlation, so what counts is the sign relative to the
    correlation there. Bits off the hidden set have no pull.

    >>> pulls(Junta.multiplexer(9, (1,), (4, 7)))
    {1: 0.0, 4: 0.5, 7: 0.5}
    """
    seen = {s: c * (-1) ** ((junta.k - len(s)) // 2) for s, c in visible(junta).items()}
    degree = min((len(s) for s in seen if s), default=0)
    lowest = {s: c for s, c in seen.items() if s and len(s) == degree}
    side = np.sign(seen.get((), 0.0) or sum(lowest.values()))
    return {
        j: float(side * sum(c for s, c in lowest.items() if j in s)) + 0.0 for j in junta.subset
    }

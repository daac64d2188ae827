"""Exact risk and gradient of k heads with a readout of your own, over all 2^n inputs.

Change `my_readout` and run the file again: .venv/bin/python examples/exact_gradient.py
"""

import jax.numpy as jnp
import numpy as np

from paritylab import (
    HeadAttention,
    Heads,
    Parity,
    Population,
    enumerated_risk,
    learn,
    population_gradient,
    population_risk,
    random_parities,
)


def my_readout(s):
    """A parabola through the parity of two bits: 1, -1, 1 at s = 0, 1, 2."""
    return 2 * (s - 1) ** 2 - 1


def main() -> None:
    problem = Parity(10, (2, 7))
    heads = HeadAttention.random(0, problem, readout=my_readout, tau=0.5)

    exact = population_risk(heads, problem)
    every = enumerated_risk(heads, problem)
    print(f"risk {exact.value:.6f} ({exact.kind}), by enumeration {every.value:.6f}")

    gradient = population_gradient(heads, problem).gradient
    print(
        f"norm of the gradient in the weights of the {problem.n} bits: "
        f"{float(jnp.linalg.norm(jnp.asarray(np.asarray(gradient)))):.4f}"
    )

    data = Population(random_parities(n=10, k=2, runs=40))
    runs = learn(Heads.code(readout=my_readout, steps=300), data)
    print("with the public code's procedure the heads end on B in", runs.rate())


if __name__ == "__main__":
    main()

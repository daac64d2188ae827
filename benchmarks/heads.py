"""Training k heads with the public code's settings: exact against sampled, side by side.

    python benchmarks/heads.py

n = 16, k = 3, (mean hinge)², Adam 0.1, tau = n/4. Every implementation is compiled and timed on the
same machine in one run; the sampled ones see the public code's 0.8·2^n rows in every step.
"""

import time
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from paritylab.learning import Heads, Population, learn
from paritylab.models import FullFormAttention, HeadAttention
from paritylab.precision import float64
from paritylab.problem import random_parities, sample
from paritylab.risk import enumerated_risk

N, K, ROWS = 16, 3, int(0.8 * 2**16)


def sampled_step(model):
    """One Adam step on (mean hinge)² over a batch of rows, by plain automatic differentiation."""
    optimiser = optax.adam(0.1)

    def risk(parameters, bits, labels):
        predictions = jax.vmap(model.with_parameters(parameters))(bits)
        return jnp.mean(jnp.maximum(0, 1 - labels * predictions)) ** 2

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(parameters, state, bits, labels):
        value, gradient = jax.value_and_grad(risk)(parameters, bits, labels)
        updates, state = optimiser.update(gradient, state)
        return optax.apply_updates(parameters, updates), state, value

    return step, optimiser.init


def seconds_per_step(model, problem, steps: int) -> float:
    bits, labels = sample(problem, key=0, size=ROWS)
    bits, labels = bits.astype(jnp.float32), labels.astype(jnp.float32)
    step, init = sampled_step(model)
    parameters = jnp.asarray(model.parameters(), jnp.float32)
    state = init(parameters)
    parameters, state, value = step(parameters, state, bits, labels)
    value.block_until_ready()
    start = time.perf_counter()
    for _ in range(steps):
        parameters, state, value = step(parameters, state, bits, labels)
    value.block_until_ready()
    return (time.perf_counter() - start) / steps


def main() -> None:
    runs, steps = 100, 2000
    targets = random_parities(N, K, runs)
    data = Population(targets)
    learn(Heads.code(steps=steps), data)
    start = time.perf_counter()
    done = learn(Heads.code(steps=steps), data)
    exact = (time.perf_counter() - start) / runs
    error = max(
        abs(enumerated_risk(done.model(i), target).value - done.risk[i])
        for i, target in enumerate(targets[:10])
    )
    heads = HeadAttention.random(0, targets[0], tau=N / 4)
    full = eqx.tree_at(lambda m: m.tau, FullFormAttention.embed(heads), N / 4)
    reduced_step = seconds_per_step(heads, targets[0], 40)
    full_step = seconds_per_step(full, targets[0], 10)
    with float64():
        print(f"device: {jax.devices()[0].platform}, n={N}, k={K}, {steps} steps, {ROWS} rows")
    rows = [
        ("exact population, 100 runs at once, float64", exact, f"risk to {error:.0e}"),
        ("(b) reduced form on rows, float32", reduced_step * steps, _standard_error(done)),
        ("(a) full 4×4 embedding on rows, float32", full_step * steps, _standard_error(done)),
    ]
    print(f"{'implementation':46s} {'s per run':>10s} {'ratio':>7s}  error of the risk it descends")
    for name, seconds, note in rows:
        print(f"{name:46s} {seconds:10.3f} {seconds / exact:7.1f}  {note}")


def _standard_error(done) -> str:
    """Scatter of the sampled risk at the end of a run that found B, from 20 fresh samples."""
    run = int(np.argmin(done.risk))
    model, problem = done.model(run), done.data.targets[run]
    risks = []
    for seed in range(20):
        bits, labels = sample(problem, key=seed, size=ROWS)
        predictions = jax.vmap(model)(bits.astype(jnp.float32))
        risks.append(float(jnp.mean(jnp.maximum(0, 1 - labels * predictions)) ** 2))
    return f"± {np.std(risks):.0e} (sampling)"


if __name__ == "__main__":
    main()

"""The laboratory on a processor, each part with a peer and a floor: make bench.

    python benchmarks/cpu.py [--only part-of-a-name] [--print]

Every line is one function below; what it races and with what is in there.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
from harness import Race, main

from paritylab import (
    HeadAttention,
    Heads,
    Parity,
    Population,
    float64,
    learn,
    population_gradient,
    random_parities,
    random_tree,
    streamed_step,
)
from paritylab.learning.chain.rows import BATCH
from paritylab.learning.chain.teacher import teacher_gradient
from paritylab.models import PiecewiseLinear, WeightedReadout, Zigzag
from paritylab.models.positions import PackedSigns
from paritylab.problem import LOSSES, random_junta, random_parity, sample
from paritylab.risk import enumerated_gradient
from paritylab.risk.objective import weight_risk
from paritylab.risk.routes.half_sums import mean_and_slopes
from paritylab.risk.routes.pieces import pieces_of
from paritylab.risk.routes.series import kinked_plan, kinked_sum
from paritylab.risk.routes.statistic import target_of

K = 3
#: Steps of a compiled loop.
LOOP = 50


def attention_of(n: int, k: int = K) -> np.ndarray:
    with float64():
        return np.asarray(HeadAttention.random(3, Parity(n, range(k)), tau=1 / n).attention())


def compared_with_enumeration(n: int) -> Race:
    """Value and gradient of the squared hinge, both exact to rounding."""
    problem, attention = random_parity(1, n, K), attention_of(n)
    with float64():
        model = WeightedReadout(attention.sum(axis=0), Zigzag(K))
    exact, ours = enumerated_gradient(model, problem), population_gradient(attention, problem)
    return Race(
        lambda: population_gradient(attention, problem).gradient,
        peer=("enumeration, compiled", lambda: enumerated_gradient(model, problem).gradient),
        error=f"difference {abs(exact.risk.value - ours.risk.value):.0e}",
    )


def loop(n: int) -> Race:
    """The same inside a compiled loop: gradient steps on the weights, one program."""
    problem, attention = random_parity(1, n, K), attention_of(n)
    with float64():
        weights = jnp.asarray(attention.sum(axis=0))
        model = WeightedReadout(attention.sum(axis=0), Zigzag(K))
        target = target_of(problem).arrays()
    exact = enumerated_gradient(model, problem)
    risk = weight_risk(Zigzag(K), "squared_hinge", n, K, route="half-sums")

    @jax.jit
    def steps(weights, target):
        def one(weights, _):
            value, slopes = jax.value_and_grad(risk.risk)(weights, target)
            # Weights stay positive and keep their sum.
            moved = weights * jnp.exp(-1e-3 * (slopes - jnp.mean(slopes)))
            return moved * (K / jnp.sum(moved)), (value, slopes)

        return jax.lax.scan(one, weights, None, length=LOOP)[1]

    def ours():
        with float64():
            return steps(weights, target)

    gap = np.abs(np.asarray(ours()[1][0]) - exact.gradient).max()
    return Race(
        ours,
        peer=("enumeration, compiled", lambda: enumerated_gradient(model, problem).gradient),
        peer_times=LOOP,
        error=f"slopes differ by {gap:.0e}",
    )


def series_and_a_pass(n: int) -> Race:
    """Value and gradient by the series, against one pass over the attention it reads."""
    problem, attention = random_parity(1, n, K), attention_of(n)
    weights, pieces = attention.sum(axis=0), pieces_of(Zigzag(K), LOSSES["squared_hinge"], K)
    with float64():
        plan, _ = kinked_plan(weights, problem, pieces, 1e-6)
        given = jax.device_put((weights, target_of(problem), pieces, plan))
        rows, total = jnp.asarray(attention), jax.jit(jnp.sum)
        error = population_gradient(attention, problem).risk.error

    def ours():
        with float64():
            return kinked_sum(*given, fair=True, slopes=True)

    def floor():
        with float64():
            return total(rows)

    return Race(
        ours,
        floor=("a pass over (3, n) doubles", floor),
        error=f"± {error:.0e}",
    )


def call_overhead() -> Race:
    """What `population_gradient` adds to the arithmetic it calls."""
    pieces = pieces_of(Zigzag(K), LOSSES["squared_hinge"], K)
    problem, attention = random_parity(1, 16, K), attention_of(16)
    weights, target = attention.sum(axis=0), target_of(problem)
    return Race(
        lambda: population_gradient(attention, problem).gradient,
        floor=("the function it calls", lambda: mean_and_slopes(weights, target, pieces)),
    )


def junta_and_parity() -> Race:
    """A table of 2^5 values at n = 10^6 against a parity of five bits."""
    n, k = 1_000_000, 5
    attention = attention_of(n, k)
    corners = tuple(np.where(np.arange(k + 1) % 2 == 0, 1.0, -1.0))
    call = partial(
        population_gradient, attention, readout=PiecewiseLinear(tuple(range(k + 1)), corners)
    )
    junta, parity = random_junta(1, n, k), random_parity(1, n, k)
    return Race(
        lambda: call(junta).gradient,
        peer=("the parity of 5 bits", lambda: call(parity).gradient),
        error=f"± {call(junta).risk.error:.0e}",
    )


def heads_of_the_public_code() -> Race:
    """100 runs of k heads on the exact risk against one run of the same heads on 0.8·2^n rows."""
    n, runs, steps = 16, 100, 400
    targets = random_parities(n, K, runs)
    learner, data = Heads.code(steps=steps), Population(targets)
    model = HeadAttention.random(0, targets[0], tau=n / 4)
    bits, labels = (part.astype(jnp.float32) for part in sample(targets[0], key=0, size=52_428))
    optimiser = optax.adam(0.1)

    def risk(parameters):
        predictions = jax.vmap(model.with_parameters(parameters))(bits)
        return jnp.mean(jnp.maximum(0, 1 - labels * predictions)) ** 2

    @jax.jit
    def some_steps(parameters):
        def one(_, carried):
            parameters, state = carried
            update, state = optimiser.update(jax.grad(risk)(parameters), state)
            return optax.apply_updates(parameters, update), state

        return jax.lax.fori_loop(0, 20, one, (parameters, optimiser.init(parameters)))[0]

    parameters = jnp.asarray(model.parameters(), jnp.float32)
    return Race(
        lambda: learn(learner, data).risk,
        peer=("reduced form on rows, compiled, 20 steps", lambda: some_steps(parameters)),
        peer_times=runs * steps / 20,
        error="exact; rows scatter",
    )


def annealed_runs() -> Race:
    """1,024 runs of annealed heads at n = 20."""
    data = Population(random_parities(20, K, 1024))
    done = learn(Heads.annealed(), data)
    return Race(lambda: learn(Heads.annealed(), data).risk, error=str(done.rate()))


def chain_step() -> Race:
    """One streamed step at n = 512 against the product XᵀR alone on random signs."""
    n, k, samples = 512, 256, 200_000
    tree = random_tree(0, n, k)
    generator = np.random.default_rng(0)
    x = jnp.asarray(generator.choice([-1.0, 1.0], (BATCH, tree.size)).astype(np.float32))
    r = jnp.asarray(generator.standard_normal((BATCH, k - 1)).astype(np.float32))
    product = jax.jit(lambda x, r: x.T @ r)
    return Race(
        lambda: teacher_gradient(tree, 1, samples),
        floor=("the product alone", lambda: product(x, r)),
        floor_times=samples / BATCH,
    )


def xor_step() -> Race:
    """One exact step on 50 pairs at n = 10^6, width 96, against the product of its scores."""
    n, width, pairs = 1_000_000, 96, 50
    code = PackedSigns.draw(np.random.default_rng(0), 20_000, width, balanced=False)
    block = next(iter(code.sign_blocks()))[1].astype(np.float32)
    directions = np.random.default_rng(1).standard_normal((width, pairs)).astype(np.float32)
    return Race(
        lambda: streamed_step(n, width, [24.0], pairs=pairs).ranked,
        floor=("the product alone", lambda: block @ directions),
        floor_times=n / len(block),
    )


RACES = {
    "population risk and gradient, n = 20": partial(compared_with_enumeration, 20),
    "population risk and gradient, n = 24": partial(compared_with_enumeration, 24),
    f"a loop of {LOOP} risks and gradients, n = 20": partial(loop, 20),
    f"a loop of {LOOP} risks and gradients, n = 24": partial(loop, 24),
    "population gradient, n = 1,000,000": partial(series_and_a_pass, 1_000_000),
    "call overhead, n = 16": call_overhead,
    "any table of 5 bits, n = 10^6": junta_and_parity,
    "heads of the public code, n = 16, a run of 400 steps": heads_of_the_public_code,
    "1,024 annealed runs, n = 20": annealed_runs,
    "chain, one step, n = 512, N = 200,000": chain_step,
    "XOR, one step, n = 10^6, width 96, 50 pairs": xor_step,
}


if __name__ == "__main__":
    main(__doc__, RACES, "cpu", "make bench")

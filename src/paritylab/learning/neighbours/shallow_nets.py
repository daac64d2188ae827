"""The two-layer nets of three neighbours: online SGD on the hinge loss, and sign descent with z^k.

Rows are drawn by numpy outside the compiled loops: a step of these nets is so small that drawing
random numbers inside would take longer to compile than all runs take to train. Everything runs in
float32, whatever the caller's mode.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PyTree

from paritylab.learning.contract import Subset, register_learner
from paritylab.learning.data import (
    Data,
    Fresh,
    Population,
    Target,
    Unknown,
    are_uniform,
    functions_of,
    parities_of,
)
from paritylab.learning.descent import descend, sign_rule, stacked
from paritylab.learning.neighbours.strings import Strings, draw_strings, generator_of, signs_of
from paritylab.learning.networks import Ended, Network
from paritylab.models.protocol import Model
from paritylab.models.shallow import ShallowNet
from paritylab.options import Choice, Doc, Ge, Gt, Le
from paritylab.precision import AnyArray
from paritylab.problem import Junta, Parity
from paritylab.problem.sampling import each_key
from paritylab.theory.neighbours import power_signal

#: Fresh strings on which a trace counts accuracy, and a run its accuracy on its own mixture.
TEST_STRINGS = 1024
#: Inputs of up to 14 bits are all visited to judge a run; beyond, 8,192 fresh strings: these nets
#: are wide, and their runs many.
JUDGED_BY = (14, 8192)
#: Rows whose gradient is taken at once; the last piece is filled up with rows of label 0.
PIECE = 1024


@register_learner("hinge-net")
@dataclass(frozen=True, eq=False)
class HingeNet(Network):
    """Two layers of `width` neurons on ±1 inputs, SGD on the hinge loss with L2 decay.

    activation: "relu" starts uniform in ±1/√fan-in; "clipped" starts antisymmetric, ŷ = 0. start:
    the hidden weights drawn are multiplied by it.
    mixture: share of the rows in which all bits of the hidden set share one fair sign (D_A of
    Daniely and Malach at ½); the others follow the data. shared_first: share of the steps, at the
    start, whose rows are all of that kind. frozen: the hidden layer stays as drawn.

    Presets: `HingeNet.barak()`, `HingeNet.daniely_malach()`. The batch is that of `Fresh`.

    A run is solved if its squared-hinge risk on the data's own inputs, without the mixture, is
    below 0.05. Stats: accuracy there; mixed, accuracy on the mixture it was trained on. The trace
    has accuracy, moved (largest |w_t - w_0| of a hidden weight), columns (‖w_t - w_0‖ of the
    weights that leave each input) and squares (their mean square at that step).

    >>> from paritylab import Fresh, Parity, learn
    >>> runs = learn(HingeNet(64, steps=400), Fresh(Parity(10, (1, 4)), 32), runs=4)
    >>> runs.rate().successes
    4
    """

    width: Annotated[int, Ge(1), Doc("Hidden neurons.")] = 1000
    activation: Annotated[str, Choice(("relu", "clipped")), Doc("Kind of neuron.")] = "relu"
    start: Annotated[float, Gt(0), Doc("Factor of the hidden weights at the start.")] = 1.0
    eta: Annotated[float, Gt(0), Doc("Step size.")] = 0.1
    decay: Annotated[float, Ge(0), Doc("L2 decay of all weights.")] = 0.01
    steps: Annotated[int, Ge(1), Doc("Gradient steps per run.")] = 5000
    mixture: Annotated[
        float, Ge(0), Le(1), Doc("Share of rows whose hidden bits share a sign.")
    ] = 0.0
    shared_first: Annotated[
        float, Ge(0), Le(1), Doc("Share of the steps, first, on such rows only.")
    ] = 0.0
    frozen: Annotated[bool, Doc("Keep the hidden layer as drawn.")] = False

    takes = (Fresh,)
    judged_by = JUDGED_BY

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.activation == "clipped" and self.width % 2:
            raise ValueError(f"the clipped net pairs its neurons; width is even, got {self.width}")

    @classmethod
    def barak(cls, **changes: Any) -> "HingeNet":
        """Barak et al.: ReLU, width 1000, rate 0.1, decay 0.01, with `Fresh(…, 32)`."""
        return replace(cls(), **changes)

    @classmethod
    def daniely_malach(cls, **changes: Any) -> "HingeNet":
        """Daniely and Malach: clipped ReLU, antisymmetric start, D_A; sizes and rate are ours."""
        theirs = cls(activation="clipped", mixture=0.5)
        ours = replace(theirs, width=128, start=0.1, eta=0.5, decay=1e-3, steps=1000)
        return replace(ours, **changes)

    def draw(self, key: jax.Array, target: Target | Unknown) -> ShallowNet:
        clipped = self.activation == "clipped"
        make = ShallowNet.antisymmetric if clipped else ShallowNet.uniform
        drawn = make(key, target.n, self.width)
        return replace(drawn, hidden=self.start * np.asarray(drawn.hidden))

    def descended(self, data: Data, keys: jax.Array, trace: int | None) -> Ended:
        """Online SGD in float32; all rows of all steps are drawn before, n/8 bytes each."""
        assert isinstance(data, Fresh)
        targets = functions_of(data, "a hinge net")
        pairs = list(zip(targets, each_key(keys), strict=True))
        with jax.enable_x64(False), jax.default_matmul_precision("highest"):
            starts = stacked(_numbers(start) for start in self.starts(data, keys))
            given = _Given(
                rows=stacked(self._rows(*pair, data.samples) for pair in pairs),
                test=stacked(_test_rows(*pair) for pair in pairs),
                mixture=stacked(_test_rows(*pair, self.mixture) for pair in pairs),
            )
            rule = (np.float32(self.eta), np.float32(self.decay))
            shape = _Shape(data.n, self.activation, self.frozen, self.steps, trace)
            found = _train_hinge(starts, given, keys, rule, shape)
        numbers, path, mixed = jax.tree.map(np.asarray, found)
        if trace is not None:
            path = {"step": np.arange(0, self.steps, trace), **path}
        return Ended(numbers, path or {}, {"mixed": mixed})

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> ShallowNet:
        return ShallowNet(**numbers, activation=self.activation)

    def _rows(self, target: Parity | Junta, key: jax.Array, batch: int) -> Strings:
        """All rows of one run, n/8 bytes each."""
        shared = round(self.shared_first * self.steps)
        parts = [(shared, 1.0), (self.steps - shared, self.mixture)]
        generator = generator_of(key, 0)
        drawn = [draw_strings(generator, target, (steps, batch), mix) for steps, mix in parts]
        return Strings(*(np.concatenate(part) for part in zip(*drawn, strict=True)))


class _Given(NamedTuple):
    """Strings of every run: of all steps, for the trace, and of the mixture it trains on."""

    rows: Strings
    test: Strings
    mixture: Strings


class _Shape(NamedTuple):
    """What a compiled training is specialised on."""

    n: int
    activation: str
    frozen: bool
    steps: int
    every: int | None


def _test_rows(target: Parity | Junta, key: jax.Array, mixture: float = 0.0) -> Strings:
    clean = replace(target, noise=0.0)
    return draw_strings(generator_of(key, 2), clean, (TEST_STRINGS,), mixture)


def _numbers(net: Model) -> dict[str, np.ndarray]:
    """The weights of a net by name, in single precision."""
    names = ("hidden", "thresholds", "output", "offset")
    return {name: np.asarray(getattr(net, name), np.float32) for name in names}


@partial(jax.jit, static_argnames="shape")
def _train_hinge(
    starts: dict[str, Array],
    given: _Given,
    keys: jax.Array,
    rule: tuple[Array, Array],
    shape: _Shape,
) -> tuple[dict[str, Array], PyTree, Array]:
    """Weights at the end, what the trace shows, and accuracy on the mixture, of every run."""
    eta, decay = rule
    still = {name: shape.frozen and name in ("hidden", "thresholds") for name in starts}
    optimiser = optax.chain(
        optax.add_decayed_weights(decay), optax.sgd(eta), optax.masked(optax.set_to_zero(), still)
    )

    def answers(weights: dict[str, Any], rows: Strings) -> Array:
        """y·ŷ of every string."""
        net = ShallowNet(**weights, activation=shape.activation)
        return jnp.asarray(rows.labels) * net.at_signs(signs_of(rows.packed, shape.n))

    def hinge(weights: dict[str, Array], rows: Strings) -> Array:
        return jnp.mean(jnp.maximum(0, 1 - answers(weights, rows)))

    def one(start: dict[str, Array], given: _Given, key: Array) -> tuple[PyTree, PyTree, Array]:
        def probe(weights: dict[str, Array]) -> dict[str, Array]:
            moved = weights["hidden"] - start["hidden"]
            return {
                "risk": hinge(weights, given.test),
                "accuracy": jnp.mean(answers(weights, given.test) > 0),
                "moved": jnp.max(jnp.abs(moved)),
                "columns": jnp.linalg.norm(moved, axis=0),
                "squares": jnp.mean(weights["hidden"] ** 2, axis=0),
            }

        end = descend(
            lambda weights, _, number: hinge(weights, Strings(*(p[number] for p in given.rows))),
            start,
            optimiser,
            steps=shape.steps,
            every=shape.every,
            key=key,
            numbered=True,
            keep=probe,
        )
        mixed = jnp.mean(answers(end.parameters, given.mixture) > 0)
        return end.parameters, end.path, mixed

    weights, path, mixed = jax.vmap(one)(starts, given, keys)
    return weights, path, mixed


@register_learner("sign-descent")
@dataclass(frozen=True, eq=False)
class SignDescent(Network):
    """The net of Kou, Chen, Gu and Kakade: sign descent with z^k on 1 - yŷ.

    ŷ = Σ_r a_r (w_rᵀx)^k with a_r = ±1 fixed and w_r(0) of fair signs.

    w ← (1 - eta·decay)·w - eta·sign(∇), with sign = 0 where |∇| < threshold·k!; k! is the gradient
    of a fresh neuron on the hidden set. width: neurons, 16·2^k if None. Samples: `Fresh(…, N)`
    draws N rows per step; `Population` has the gradient in closed form.

    A run names the k positions whose weights are largest in the mean over neurons. It is solved if
    its squared-hinge risk is below 0.05. Stats: accuracy. The trace has weights, the mean |w| of
    each position.

    >>> from paritylab import Population, learn, random_parities
    >>> learn(SignDescent(), Population(random_parities(30, 3, runs=4))).rate().successes
    4
    """

    width: Annotated[int | None, Ge(1), Doc("Neurons; 16·2^k if absent.")] = None
    eta: Annotated[float, Gt(0), Doc("Step size.")] = 0.1
    decay: Annotated[float, Ge(0), Doc("L2 decay of the weights.")] = 1.0
    threshold: Annotated[float, Ge(0), Doc("Dead zone of the sign, in units of k!.")] = 0.1
    steps: Annotated[int, Ge(1), Doc("Gradient steps per run.")] = 40

    takes = (Population, Fresh)
    judged_by = JUDGED_BY

    @classmethod
    def kou(cls, **changes: Any) -> "SignDescent":
        """Kou et al.: decay 1, dead zone 0.1·k! (recalled); rate, steps and width are ours."""
        return replace(cls(), **changes)

    def descended(self, data: Data, keys: jax.Array, trace: int | None) -> Ended:
        """Step by step outside of compiled code: a step is one product, and there are few."""
        assert isinstance(data, Population | Fresh)
        targets = parities_of(data, "sign descent with z^k")
        if data.k < 2 or not are_uniform(data):
            raise ValueError("sign descent with z^k learns a Parity of k ≥ 2 fair bits")
        starts = stacked(_numbers(start) for start in self.starts(data, keys))
        weights, outputs = starts["hidden"], starts["output"]
        rule = sign_rule(self.eta, self.decay, self.threshold * math.factorial(data.k))
        noted = []
        for step in range(self.steps):
            mean, slopes = self._gradients(data, targets, keys, weights, outputs, step)
            if trace is not None and step % trace == 0:
                noted.append({"risk": 1 - mean, "weights": np.abs(weights).mean(axis=1)})
            # The loss is 1 - yŷ: its gradient is minus that of yŷ. With decay 1 the weights forget
            # their start like (1 - eta)^t, and only what keeps a sign above the dead zone stays.
            updates, _ = rule.update(-slopes, None, weights)
            weights = weights + np.asarray(updates, np.float32)
        path = jax.tree.map(lambda *parts: np.stack(parts, axis=1), *noted) if noted else {}
        if trace is not None:
            path["step"] = np.arange(0, self.steps, trace)
        return Ended({"hidden": weights, "output": outputs}, path, {})

    def named(self, models: Sequence[Model]) -> list[Subset]:
        """The k positions whose weights are largest in the mean over neurons."""
        found: list[Subset] = []
        for net in models:
            assert isinstance(net, ShallowNet)
            order = np.argsort(-np.abs(np.asarray(net.hidden)).mean(axis=0), kind="stable")
            found.append(tuple(sorted(order[: net.power].tolist())))
        return found

    def rebuild(self, numbers: PyTree, target: Target | Unknown, key: jax.Array) -> ShallowNet:
        zeros = {"thresholds": np.zeros(len(numbers["output"])), "offset": np.zeros(())}
        return ShallowNet(**numbers, **zeros, activation="power", power=target.k or 1)

    def draw(self, key: jax.Array, target: Target | Unknown) -> ShallowNet:
        k = target.k or 1
        return ShallowNet.signs(key, target.n, self.width or 16 * 2**k, k)

    def _gradients(
        self,
        data: Population | Fresh,
        targets: tuple[Parity, ...],
        keys: jax.Array,
        weights: Float[np.ndarray, "runs q n"],
        outputs: Float[np.ndarray, "runs q"],
        step: int,
    ) -> tuple[Float[np.ndarray, " runs"], Float[np.ndarray, "runs q n"]]:
        """E[yŷ] and its gradient: exact, or of this step's rows."""
        if isinstance(data, Population):
            means, slopes = zip(*map(power_signal, weights, outputs, targets), strict=True)
            return np.array(means), np.stack(slopes)
        total, slope = np.zeros(len(weights), np.float32), np.zeros_like(weights)
        generators = [generator_of(key, 3 + step) for key in each_key(keys)]
        for begin in range(0, data.samples, PIECE):
            pairs = zip(generators, targets, strict=True)
            rows = stacked(draw_strings(*pair, (PIECE,)) for pair in pairs)
            rows.labels[:, data.samples - begin :] = 0
            with jax.enable_x64(False), jax.default_matmul_precision("highest"):
                sums = _sums(weights, outputs, *rows, data.k)
            total, slope = total + np.asarray(sums[0]), slope + np.asarray(sums[1])
        return total / data.samples, slope / data.samples


@partial(jax.jit, static_argnames="k")
def _sums(
    weights: AnyArray, outputs: AnyArray, packed: AnyArray, labels: AnyArray, k: int
) -> tuple[Float[Array, " runs"], Float[Array, "runs q n"]]:
    """Σ yŷ and Σ ∂(yŷ)/∂w over rows, for every run."""
    n = weights.shape[-1]

    def one(w: Array, a: Array, packed: Array, y: Array) -> tuple[Array, Array]:
        x = signs_of(packed, n)
        return jax.value_and_grad(lambda w: y @ ((x @ w.T) ** k @ a))(w)

    total, slope = jax.vmap(one)(*map(jnp.asarray, (weights, outputs, packed, labels)))
    return total, slope

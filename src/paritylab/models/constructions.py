"""Exact constructions, parity without learning.

Proposition 3 of HG1, a net for any attended sum, and Chiang and Cholak's transformer for the parity
of all bits: two layers, exact at every length. Its first layer counts the ones, the second looks
whether the position of that number is even or odd. The construction is theirs; it is derived again
here from its description.
"""

from typing import NamedTuple, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab._support.checks import shortened, whole
from paritylab._support.precision import AnyArray
from paritylab.models.attention import HeadAttention
from paritylab.models.feedforward import FeedForward
from paritylab.models.readouts import Zigzag
from paritylab.problem import Parity, all_bits


def parity_network(problem: Parity) -> FeedForward:
    """h_B(x) = 1 + Σ_{j=1..k} (-1)^j (8j-4) ReLU(Σ_{p∈B} x_p + 1/2 - j); only B has edges.

    >>> network = parity_network(Parity(6, (0, 3, 4)))
    >>> network.distinct_numbers()
    8
    """
    readout = Zigzag(problem.k)
    edges = np.tile(problem.indicator, (problem.k, 1))
    return FeedForward(edges, -readout.thresholds, readout.output_weights, np.ones(()), edges)


def parity_transformer(
    problem: Parity, *, tau: float = 1.0, b: float = 0.0, hard: bool = False
) -> HeadAttention:
    """k heads of unit norm, head i pointing at B_i, and the zigzag head: equation (2) of HG1."""
    return HeadAttention.on(
        problem, readout=Zigzag(problem.k, b), tau=tau, kind="hard" if hard else "softmax"
    )


def interpolating_network(problem: Parity, weights: Float[np.ndarray, " n"]) -> FeedForward:
    """The FFNN-1 of one input s = Σ_j g_j x_j that passes through the label of every bit string.

    weights: g, with 2^n different sums, such as powers of 2. The net has one hinge per sum but the
    last, so its weights grow with the closeness of the sums.

    >>> network = interpolating_network(Parity(3, (0, 2)), np.array([1.0, 2.0, 4.0]) / 7)
    >>> round(float(network(np.array([5 / 7]))), 4)  # the string 101
    1.0
    """
    whole("n", problem.n, 1, 20)
    weights = np.asarray(weights, np.float64)
    if weights.shape != (problem.n,) or not np.isfinite(weights).all():
        raise ValueError(f"weights must be n={problem.n} finite numbers, got {shortened(weights)}")
    bits = np.concatenate([np.asarray(chunk) for chunk in all_bits(problem.n)])
    sums, labels = bits @ weights, problem.sign * (1.0 - 2 * ((bits @ problem.indicator) % 2))
    order = np.argsort(sums)
    at, values = sums[order], labels[order]
    if np.diff(at).min() <= 0:
        raise ValueError("the weights must tell all 2^n strings apart, but two sums are equal")
    alpha = np.diff(np.diff(values) / np.diff(at), prepend=0.0)
    ones = np.ones((len(alpha), 1))
    return FeedForward(ones, -at[:-1], alpha, values[0], ones)


def tied_network(heads: HeadAttention) -> FeedForward:
    """The FFNN-1 that the masked model is, once its attention is known.

    Attention does not depend on the bits, so ŷ = 1 + Σ_i α_i σ(Σ_j g_j x_j + 1/2 - i): k neurons
    and kn edges, whose weights g are tied to the few numbers of the heads. Needs a zigzag readout.
    """
    readout = heads.readout
    if not isinstance(readout, Zigzag):
        raise ValueError(f"an FFNN-1 needs the zigzag readout, got {type(readout).__name__}")
    hidden = np.tile(np.asarray(heads.weights()), (readout.k, 1))
    edges = np.ones_like(hidden)
    return FeedForward(
        hidden, -readout.thresholds, readout.output_weights, np.ones(()), edges, readout.b
    )


#: Coordinates of a token's vector: is it a 0, a 1, the first token; its place i/N and (-1)^i; the
#: count c/N, the unit 1/N, the bump at i = c, and what each head of the second layer reads of it.
ZERO, ONE, FIRST, PLACE, SIGN, COUNT, UNIT, BUMP, ODD, EVEN = range(10)
WIDTH = 10


class PlainLayer(NamedTuple):
    """Attention heads and a net of ReLUs, both added to what comes in; no layer norm.

    scores: Q Kᵀ of every head. values: value and output map of every head in one. inner, outer: the
    net without biases.
    """

    scores: Float[AnyArray, "heads width width"]
    values: Float[AnyArray, "heads width width"]
    inner: Float[AnyArray, "width hidden"]
    outer: Float[AnyArray, "hidden width"]

    def __call__(self, vectors: Float[Array, "N width"]) -> Float[Array, "N width"]:
        scores = jnp.einsum("id,hde,je->hij", vectors, self.scores, vectors)
        mixed = jnp.einsum("hij,jd,hde->ie", jax.nn.softmax(scores, axis=-1), vectors, self.values)
        added = vectors + mixed
        return added + jax.nn.relu(added @ self.inner) @ self.outer


@final
class CountingTransformer(eqx.Module):
    """ŷ > 0 exactly if the number c of ones is even, for every string of n bits.

    N = n + 1 tokens: one in front (i = 0), then the bits. Layer 1 attends evenly: c/N and 1/N. Its
    net makes relu(c-i-1) - 2·relu(c-i) + relu(c-i+1) over N, a bump of height 1/N at i = c. Layer 2
    has a head with scores -s·(-1)^i, which prefers odd places, and one with s·(-1)^i. Read at the
    first token, ŷ is what the second sees of the bump minus what the first sees. sharpness: s.

    >>> model = CountingTransformer.of(5)
    >>> [int(jnp.sign(model(np.array(bits)))) for bits in ([0., 1, 0, 1, 0], [1., 1, 0, 1, 0])]
    [1, -1]
    """

    first: PlainLayer
    second: PlainLayer
    n: int = eqx.field(static=True)

    @classmethod
    def of(cls, n: int, sharpness: float = 1.0) -> "CountingTransformer":
        """The construction for n bits."""
        n = whole("n", n, 1)
        zero = np.zeros((WIDTH, WIDTH))
        even = zero.copy()
        even[ONE, COUNT] = even[FIRST, UNIT] = 1.0
        inner, outer = np.zeros((WIDTH, 3)), np.zeros((3, WIDTH))
        inner[COUNT], inner[PLACE], inner[UNIT] = 1.0, -1.0, (-1.0, 0.0, 1.0)
        outer[:, BUMP] = (1.0, -2.0, 1.0)
        odd, values = zero.copy(), np.zeros((2, WIDTH, WIDTH))
        odd[FIRST, SIGN] = -sharpness
        values[0, BUMP, ODD] = values[1, BUMP, EVEN] = 1.0
        first = PlainLayer(zero[None], even[None], inner, outer)
        second = PlainLayer(np.stack([odd, -odd]), values, zero[:, :1], zero[:1])
        return cls(first, second, n)

    def __call__(self, bits: Float[AnyArray, " n"]) -> Float[Array, ""]:
        ones = jnp.asarray(bits, jnp.result_type(float))
        place = np.arange(self.n + 1)
        vectors = jnp.zeros((self.n + 1, WIDTH), ones.dtype)
        vectors = vectors.at[1:, ONE].set(ones).at[1:, ZERO].set(1 - ones).at[0, FIRST].set(1)
        vectors = vectors.at[:, PLACE].set(place / (self.n + 1)).at[:, SIGN].set((-1.0) ** place)
        after = self.second(self.first(vectors))[0]
        return after[EVEN] - after[ODD]


def answers_by_count(n: int, sharpness: float = 1.0) -> Float[np.ndarray, " counts"]:
    """ŷ of `CountingTransformer` for c = 0, …, n ones, in closed form.

    With E even and O odd places among N = n + 1 the bump's weight is e^{∓s}/(O e^s + E e^{-s}) for
    the odd head and e^{±s}/(E e^s + O e^{-s}) for the even one, above for an even c; its height is
    1/N. So |ŷ| → 2 tanh(s)/n², which is 1.52/n² for s = 1.

    >>> answers = answers_by_count(1000)
    >>> bool((np.sign(answers) == (-1.0) ** np.arange(1001)).all())
    True
    """
    total = n + 1
    odd, even = total // 2, total - total // 2
    signs = (-1.0) ** np.arange(total)
    high, low = np.exp(sharpness), np.exp(-sharpness)
    seen_even = np.exp(sharpness * signs) / (even * high + odd * low)
    seen_odd = np.exp(-sharpness * signs) / (odd * high + even * low)
    return np.asarray((seen_even - seen_odd) / total)

"""The first gradient on attention scores: one unknown parent against two.

The cross-entropy of an answer y is log(2 cosh(f/2)) - y·f/2, f the difference of two logits. Only
its second part knows the label. The derivative of E[y·f] by the score of token j is
α_j·E[y·g·(v_j - v̄)]: α_j, about 1/M, is the token's weight, v_j = x_j·e + … its vector, v̄ the mean
that is attended to, and g how f moves with that mean. If the query carries one parent a of y = a·b,
E[y·g·b] = E[a·g] is of order 1, because a enters g directly. If b and c are both unknown, then
E[b·c·g·b] = E[c·g] is of order α_c, because c enters g only through attention.
All 2^n inputs are summed, so that nothing is sampled but the starts.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab.learning.transformer.chains import plan
from paritylab.models.transformer import MARK, Build

X64_MODES = [False]
LEAVES = (1, 3)


def first_gradient(chain: str, n: int, starts: int = 16) -> tuple[float, float]:
    """Root mean square of the last slot's gradient: on a bit that is a parent, on other bits."""
    made = plan(chain, LEAVES, n)
    bits = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    slots = np.where(made.written, bits @ made.sums.T % 2, MARK)
    read = np.column_stack([bits, np.full(2**n, MARK), slots[:, :-1]]).astype(np.int32)
    build = Build(n, made.written)

    @eqx.filter_jit
    def gradient(key):
        model = build.draw(key)

        def agreement(nudge):
            logits = jax.vmap(lambda each: model.outcome(each, nudge).logits[-1])(read)
            return jnp.mean((logits[:, 0] - logits[:, 1]) * (1 - 2 * slots[:, -1])) / 2

        return jax.grad(agreement)(jnp.zeros((build.heads, *made.parents.shape)))

    found = np.array(
        [gradient(key)[:, -1, :n] for key in jax.random.split(jax.random.key(0), starts)]
    )
    size = np.sqrt((found**2).mean(axis=(0, 1)))
    parent = made.parents[-1, :n]
    others = np.ones(n, bool)
    others[list(LEAVES)] = False
    return float(np.sqrt((size[parent] ** 2).mean())), float(np.sqrt((size[others] ** 2).mean()))


def test_the_gradient_of_one_unknown_parent_is_larger_and_falls_more_slowly():
    """At n = 10 it is 4 times that of two, whether a tree or a filler hides the second parent."""
    few, many = ({c: first_gradient(c, n) for c in ("line", "tree")} for n in (5, 10))
    for right, others in (*few.values(), *many.values()):
        assert right > 1.5 * others, "the parents stand out from the first step on"
    ratios = [each["line"][0] / each["tree"][0] for each in (few, many)]
    assert 2 < ratios[0] < ratios[1]
    filler, _ = first_gradient("filler", 10)
    assert filler == pytest.approx(many["tree"][0], rel=0.3)

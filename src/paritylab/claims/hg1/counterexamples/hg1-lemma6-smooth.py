import jax
import jax.numpy as jnp
import numpy as np

from paritylab import Circle, HeadAttention, Zigzag, float64
from paritylab.theory import hg1

n, k, tau, b = 8, 1, 1.0, 1e8  # no upper bound on the smoothing b is printed
bits = (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(float)
labels = 1 - 2 * bits[:, 0]


def risk(direction):
    heads = HeadAttention(direction[None], Circle(n), k, Zigzag(k, b), tau)
    return jnp.mean(jnp.maximum(0, 1 - labels * jax.vmap(heads)(bits)) ** 2)


with float64():
    constant = hg1.risk_smoothness(k, tau, b)
    bent = float(jnp.linalg.norm(jax.hessian(risk)(jnp.array([-0.0545, 2.3])), ord=2))
    start = jnp.array([-1.64, 4.79])
    before, after = (
        float(risk(start - eta * jax.grad(risk)(start))) for eta in (0.0, 1 / constant)
    )
print("curvature over Lemma 7's constant", bent / constant, "risk", before, "to", after)
assert bent > 5 * constant and after > before + 100

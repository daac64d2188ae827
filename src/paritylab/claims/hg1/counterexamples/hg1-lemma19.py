import jax
import jax.numpy as jnp

from paritylab import HeadAttention, Parity, Zigzag, float64

problem = Parity(8, (0, 1, 2))
heads = HeadAttention.random(0, problem, readout=Zigzag(3, b=0.01), tau=1 / 8)
with float64():

    def loss(a, x, y):
        return jnp.maximum(0, 1 - y * heads.with_parameters(a)(x)) ** 2

    a = jnp.asarray(heads.directions)
    pair = ((jnp.zeros(8), 1), (jnp.ones(8), -1))
    left = sum(float((jax.grad(loss)(a, x, y) ** 2).sum()) for x, y in pair)
    right = sum(float(loss(a, x, y)) for x, y in pair)
print("squared gradients:", left, "losses:", right)
assert left < 1e-20 < 1e-6 < right

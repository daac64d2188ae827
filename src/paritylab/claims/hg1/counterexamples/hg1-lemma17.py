import jax
import numpy as np

from paritylab import HeadAttention, Parity, float64

problem = Parity(8, (0, 1, 2))
heads = HeadAttention.random(0, problem, tau=1 / 8)
with float64():

    def loss(a, x):
        return jax.numpy.maximum(0, 1 - problem.label(x) * heads.with_parameters(a)(x)) ** 2

    inputs = np.random.default_rng(0).integers(0, 2, (40, 8)).astype(float)
    a = jax.numpy.asarray(heads.directions)
    gradients = np.array([jax.grad(loss)(a, x)[0] for x in inputs])
products = gradients @ gradients.T
print("pairs with a negative inner product:", (products < -1e-9).mean())
assert (products < -1e-9).any()

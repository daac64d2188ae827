import jax
import numpy as np

from paritylab import HeadAttention, Parity
from paritylab.models import tied_network

heads = HeadAttention.random(0, Parity(10, (1, 4, 8)), tau=0.3)
net = tied_network(heads)  # FFNN-1: k neurons, an edge from every bit
bits = np.array([[(i >> j) & 1 for j in range(10)] for i in range(1024)], dtype=float)
gap = np.abs(jax.vmap(heads)(bits) - jax.vmap(net)(bits)).max()
print(heads.directions.size, "numbers,", int(net.edges.sum()), "edges, difference", gap)
assert gap < 1e-3 and heads.directions.size < 10 < net.edges.sum()

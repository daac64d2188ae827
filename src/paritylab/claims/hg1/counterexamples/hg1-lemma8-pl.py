import numpy as np

from paritylab import Circle, HeadAttention, Parity, Zigzag
from paritylab.risk import enumerated_gradient

for b in (0.0, 0.1):
    heads = HeadAttention(np.zeros((2, 2)), Circle(10), 2, Zigzag(2, b), tau=0.1)
    found = enumerated_gradient(heads, Parity(10, (1, 6)))  # B: two opposite positions
    print("b", b, "risk", found.risk.value, "largest slope", np.abs(found.gradient).max())
    assert found.risk.value > 1.5 and np.abs(found.gradient).max() < 1e-12

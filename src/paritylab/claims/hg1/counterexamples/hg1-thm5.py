import numpy as np

from paritylab import Circle, HeadAttention, Parity, Zigzag, enumerated_risk
from paritylab.risk import enumerated_gradient

problem, readout = Parity(8, (0, 3)), Zigzag(2, 0.01)
heads = np.array([[0.869722607, 0.869447129], [-1.22975583, -0.000198479983]])
model = HeadAttention(heads, Circle(8), 2, readout, tau=1 / 8)
risk, gradient, *_ = enumerated_gradient(model, problem)
print("risk", risk.value, "gradient", np.linalg.norm(gradient))
assert risk.value > 1.7 and np.linalg.norm(gradient) < 1e-6
for shift in np.random.default_rng(0).normal(size=(100, 2, 2)):
    near = model.with_parameters(heads + 0.003 * shift / np.linalg.norm(shift))
    assert enumerated_risk(near, problem).value > risk.value

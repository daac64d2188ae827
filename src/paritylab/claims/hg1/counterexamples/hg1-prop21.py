import numpy as np

from paritylab import Circle, HeadAttention, Parity, Zigzag, population_risk

n, tau = 20, 1 / 20**3
problem = Parity(n, (0, n - 1))  # |i-j| = 19 > 1, but neighbours on the circle
angle = -np.pi / n + 1e-4 * tau / (2 * np.sin(np.pi / n))  # midway, a hair nearer to 0: no tie
directions = np.array([[np.sin(angle), np.cos(angle)]] * 2)
risks = {}
for kind in ("softmax", "hard"):
    heads = HeadAttention(directions, Circle(n), 2, Zigzag(2), tau, kind)
    risks[kind] = population_risk(heads, problem).value
print(risks)
assert risks["softmax"] < 1e-6 and risks["hard"] > 1.9

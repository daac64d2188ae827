import numpy as np

from paritylab import Circle, HeadAttention, Parity, Zigzag, model_gradient

problem = Parity(20, (3, 13))  # two opposite positions
zero = HeadAttention(np.zeros((2, 2)), Circle(20), 2, Zigzag(2), tau=1 / 20)
risk, gradient, _ = model_gradient(zero, problem)
print(risk.value, np.linalg.norm(gradient))
assert risk.value > 2 and np.linalg.norm(gradient) < 1e-12

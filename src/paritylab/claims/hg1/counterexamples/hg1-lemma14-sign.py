import numpy as np

from paritylab.theory import hg1

gamma = np.full(4, 0.25)  # uniform attention over 4 positions
printed = hg1.attention_derivative(gamma, np.ones(4), tau=1.0, as_printed=True)
right = hg1.attention_derivative(gamma, np.ones(4), tau=1.0)
print(printed, right)  # adding one constant to every score changes no attention
assert np.allclose(right, 0) and np.all(printed > 0.3)

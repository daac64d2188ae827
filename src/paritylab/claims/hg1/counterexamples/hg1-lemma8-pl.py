import numpy as np

from paritylab.claims.hg1.exact_risks import ExactRisks

heads = np.zeros((1, 2, 2))
for b in (0.0, 0.1):
    local = ExactRisks(10, np.array([[1, 6]]), tau=0.1, b=b)(heads)  # B: two opposite positions
    print("b", b, "risk", local.risk[0], "squared gradient", local.squared_slope()[0])
    assert local.risk[0] > 1.5 and local.squared_slope()[0] < 1e-24

import numpy as np

from paritylab.experiments.ks_queries import decode_in_one_query

for n in (8, 12, 16):
    found = decode_in_one_query(n, n // 2, error=8 * np.exp(-n / 3))
    print(n, "identified", found.share, "sup of the squared gradient", found.gradient)
    assert found.share > 0.1 and found.gradient < 9 * n

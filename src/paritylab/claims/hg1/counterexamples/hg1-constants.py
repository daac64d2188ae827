import numpy as np

from paritylab import Circle
from paritylab.claims.hg1.gradient_flow import ExactRisks, flow
from paritylab.theory import hg1

n, k, tau, b, target = 8, 3, 1.0, 0.1, 0.1
risks = ExactRisks(n, np.array([[0, 2, 5]]), tau, b)
start = np.asarray(Circle(n).vectors([[1, 4, 6]]))  # unit heads on positions off B
first, step = risks(start).risk[0], hg1.step_size(k, tau, b)
c2 = hg1.smallest_near_attention(risks.attention(start)[0], tau)
t = hg1.stopping_time(first, target, step, hg1.descent_factor(n, k, c2))
end = flow(risks, start, 1e3 * step * t, target=target)
print(f"t = {t:.1e} steps of {step:.1e}: risk {first:.2f} becomes {end.risk[0]:.2f}, not {target}")
assert end.risk[0] > 1

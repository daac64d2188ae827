import numpy as np

from paritylab import Circle, Heads, Parity, Population, Zigzag, learn

start = np.asarray(Circle(8).vectors([1, 4, 6]))  # unit heads on positions off B
learner = Heads.paper(readout=Zigzag(3, 0.1), tau=1.0, eta=0.5, steps=8000, start=start)
done = learn(learner, Population(Parity(8, (0, 2, 5))))
print("risk after 8,000 steps of 0.5:", done.risk[0])
assert done.risk[0] > 1

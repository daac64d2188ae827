from dataclasses import replace

import numpy as np

from paritylab import Fresh, HingeNet, learn, random_parities

# Half of the time it takes until the loss moves: as large a movement without a rule to learn.
targets = random_parities(40, 3, 12, key=0)
without = [replace(target, noise=0.4999) for target in targets]
learner = HingeNet.barak(width=128, steps=600)
ruled, random = (
    learn(learner, Fresh(each, 32), trace=599).trace["moved"][:, -1] for each in (targets, without)
)
ratio = float(np.exp(np.mean(np.log(ruled / random))))
print("largest movement with a rule over that without:", ratio)
assert ruled.min() > 0.01 and 0.85 < ratio < 1.15

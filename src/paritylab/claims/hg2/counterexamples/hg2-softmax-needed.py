import jax

from paritylab import Heads, Population, learn, random_parities


def half_sigmoid(scores):
    return jax.nn.sigmoid(scores - 40) / 2


pairs = Population(random_parities(1024, 2, 40, sign=-1))
learner = Heads.pair(positions="balanced", attention=half_sigmoid, gain=55.0)
rate = learn(learner, pairs).rate("solved")
print("right on every input in", rate, "of runs")
assert rate.low > 0.5

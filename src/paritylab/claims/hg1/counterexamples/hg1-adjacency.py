from paritylab import Heads, Parity, Population, learn

runs = learn(Heads.code(tau=0.3, steps=300), Population(Parity(12, (2, 3))), runs=60)
solved = runs.solved  # soft attention, neighbours 2 and 3
right = runs.recovered[solved]  # the positions picked by hard attention are exactly B
print("soft attention solves", solved.sum(), "of 60, hard attention is right in", right.sum())
assert right.mean() > 0.5

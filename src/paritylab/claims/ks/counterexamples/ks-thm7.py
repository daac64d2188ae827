from paritylab import Levels, Sample, learn, random_tree

data = Sample(random_tree(0, 32, 8), 2**17)
for epsilon in (0.95, 1.6):
    runs = learn(Levels(epsilon=epsilon, strings=12, full_gradient=True), data)
    levels = runs.stats["levels_per_step"][0].tolist()
    silenced = runs.stats["filtered"][0].tolist()
    print("epsilon", epsilon, "levels solved", levels, "first silenced level", silenced)
    assert silenced[0] == 2 and (levels == [0, 1, 2, 3]) == (epsilon > 1)

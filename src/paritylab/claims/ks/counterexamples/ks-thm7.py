from paritylab import Chain, Filter, Sample, learn, random_tree

data = Sample(random_tree(0, 32, 8), 2**17)
for epsilon in (0.95, 1.6):
    learner = Chain.theorem7(curriculum=Filter(12, epsilon), lowest_level=False)
    runs = learn(learner, data)
    levels = runs.stats["levels_per_step"][0].tolist()
    silenced = runs.stats["silenced_level"][0].tolist()
    print("epsilon", epsilon, "levels solved", levels, "first silenced level", silenced)
    assert silenced[0] == 2 and (levels == [0, 1, 2, 3]) == (epsilon > 1)

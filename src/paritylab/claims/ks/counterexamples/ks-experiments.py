from paritylab import Chain, Sample, learn, random_tree

data = Sample(random_tree(0, 64, 8), 5000)
ends = {
    model: float(learn(Chain.published(model, steps=400), data).risk[0])
    for model in ("cot", "teacher")
}
print("prediction loss after 400 steps:", ends)
assert ends["teacher"] < 0.01 < 0.1 < ends["cot"]

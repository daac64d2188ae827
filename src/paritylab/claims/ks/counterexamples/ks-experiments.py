from paritylab import FullBatch, Sample, learn, random_tree

data = Sample(random_tree(0, 64, 8), 5000)
ends = {
    mode: float(learn(FullBatch(mode, steps=400), data).risk[0]) for mode in ("cot", "teacher-full")
}
print("prediction loss after 400 steps:", ends)
assert ends["teacher-full"] < 0.01 < 0.1 < ends["cot"]

from paritylab import Heads, Parity, Population, learn

target = Parity(20, (7, 10, 17))  # the paper's bits 8, 11, 18
runs = learn(Heads.code(tau=0.3, steps=240), Population(target), runs=20)  # 30 epochs of 8 batches
print("each head on a bit of its own:", runs.rate())
assert runs.rate().low > 0.1 and runs.rate().value < 0.9

from paritylab import Heads, Population, learn, random_parities

few, many = (
    learn(Heads.code(steps=400), Population(random_parities(10, k, runs=40))).rate() for k in (1, 4)
)
print("k = 1:", few, "k = 4:", many)
assert few.value > 0.9 and many.value < 0.5

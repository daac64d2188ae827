from paritylab import Parity, enumerated_risk, parity_transformer

problem = Parity(12, (2, 5, 9))
soft = enumerated_risk(parity_transformer(problem, tau=1 / 12), problem)
hard = enumerated_risk(parity_transformer(problem, hard=True), problem)
print(soft.value, hard.value)
assert soft.value > 1 and hard.value == 0

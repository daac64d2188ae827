from paritylab import Parity, enumerated_risk, parity_transformer

problem = Parity(4, (0, 2))
risk = enumerated_risk(parity_transformer(problem, b=0.01, hard=True), problem).value
print(risk)
assert risk > 5e-4

from paritylab import HeadAttention, Parity, population_risk

problem = Parity(1000, (100, 400, 800))
for tau in (1 / 1000, 1 / 1000**2):
    heads = HeadAttention.on(problem, tau=tau)
    print(tau, heads.attention().max(), population_risk(heads, problem))
soft = HeadAttention.on(problem, tau=1 / 1000)
assert soft.attention().max() < 0.1 and population_risk(soft, problem).value > 4

from paritylab.experiments.hg1_fixed_heads import solving_heads

for n in (4, 6, 8):  # two heads on the circle, B all bits
    own = solving_heads(n, 2)  # the paper's tokens
    large = solving_heads(n, 2, scale=own.norms_high * n)  # tokens scale·x, so ‖α‖‖β‖ = 1/n
    for net in (own, large):
        print(n, "risk", net.risk, "m²‖α‖‖β‖/n", net.m**2 * net.norms_high / n)
    assert large.risk < 1e-12 and large.norms_high < 1.01 / n

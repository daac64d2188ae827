from paritylab.claims.hg1.fixed_heads import solving_heads

small, large = solving_heads(4, 2), solving_heads(8, 2)  # all bits, two heads on the circle
for each in (small, large):
    print(each.n, "risk", each.risk, "m²‖α‖‖β‖/n", each.m**2 * each.norms_low / each.n)
assert large.risk < 1e-12 and large.norms_low / large.n > 10 * small.norms_low / small.n

from paritylab.theory.ks_hardness import mean_label

values = abs(mean_label(32, 32))
print("smallest |E_p p(x)| over all x at k = n = 32:", values.min())
assert values.min() == 1

from paritylab.models import CosineLink
from paritylab.theory.ks_gradient import level_gradient

# N = n^(2+ε) with ε = 12: O(n^(-2-ε/8)) would be O(n^(-3.5)) off the children.
scaled = []
for n in (64, 128, 256, 512):
    level = (n // 2).bit_length() - 1
    irrelevant = level_gradient(n, n // 2, level, CosineLink())[-1]
    scaled.append(irrelevant.gradient * n**3.5)
    print(n, irrelevant.name, irrelevant.gradient, "times n^3.5:", scaled[-1])
assert scaled[3] > 1.3 * scaled[2] > 1.3**2 * scaled[1] > 1.3**3 * scaled[0]

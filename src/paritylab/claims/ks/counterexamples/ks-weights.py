from paritylab.models import CosineLink
from paritylab.theory.ks_gradient import level_gradient

# η = n^(2+ε/16)/2 with ε = 24: (11) would have 0 off the children.
link, after = CosineLink(), []
for n in (64, 256, 1024):
    child, *others = level_gradient(n, 8, 1, link)
    eta = n ** (2 + 24 / 16) / 2
    after.append(round(-eta * others[-1].gradient))
    print(n, "child", round(-eta * child.gradient), "irrelevant", after[-1])
assert after[-1] < after[0] < 0

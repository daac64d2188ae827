p, noise = 0.9, 0.1
blind = 1 - 2 * p  # the best that can be said about (-1)^x without seeing x
risk = (1 - p) * max(0, 1 - blind) ** 2 + p * max(0, 1 + blind) ** 2
noisy = (1 - noise) * 0 + noise * 2**2  # the net says ±1
print(risk, noisy)
assert abs(risk - 0.36) < 1e-12 and noisy > 0.39

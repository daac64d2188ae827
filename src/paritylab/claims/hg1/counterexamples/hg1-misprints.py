from paritylab.models import Zigzag

for k in range(1, 7):
    start, end = float(Zigzag(k)(0.0)), float(Zigzag(k)(float(k)))
    print("k", k, "at s = 0", start, "at s = k", end)
    assert start == 1.0 != 0.0 and end == (-1.0) ** k

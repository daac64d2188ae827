"""One gradient step learns the XOR of two unknown bits, right on every input.

.venv/bin/python examples/xor_one_step.py
"""

from paritylab import Rate, streamed_step, train_xor


def main() -> None:
    print("one exact step, 60 hidden pairs each")
    for positions in ("signs", "balanced"):
        for n in (64, 1024):
            runs = train_xor(n, 90, positions=positions, runs=60)
            print(
                f"  n = {n:5}, {positions:8} positions: pair found in {Rate.of(runs.ranked)}, "
                f"right on all 2^{n} inputs in {Rate.of(runs.solved)}"
            )

    print("other attention kinds at their own gain, n = 256")
    for attention, gain in (("softmax", 17.0), ("linear", 127.0), ("exp", 4.85), ("sigmoid", 5.5)):
        runs = train_xor(256, 90, attention=attention, gain=gain, positions="balanced", runs=30)
        print(f"  {attention:8} right on every input in {Rate.of(runs.solved)}")

    step = streamed_step(200_000, 100, [60.0], pairs=10)
    print(
        f"n = 200,000 with 200 trained numbers: worst |ŷ - y| over every input and 10 pairs "
        f"{step.error.max():.1e}"
    )


if __name__ == "__main__":
    main()

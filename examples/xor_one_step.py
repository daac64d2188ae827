"""One gradient step learns the XOR of two unknown bits, right on every input.

.venv/bin/python examples/xor_one_step.py
"""

from paritylab import Heads, Population, learn, random_parities, streamed_step


def pairs(n: int, runs: int) -> Population:
    """Hidden pairs y = -x_i·x_j among n signs, one per run."""
    return Population(random_parities(n, 2, runs, sign=-1))


def main() -> None:
    print("one exact step, 60 hidden pairs each")
    for positions in ("signs", "balanced"):
        for n in (64, 1024):
            runs = learn(Heads.pair(width=90, positions=positions), pairs(n, 60))
            print(
                f"  n = {n:5}, {positions:8} positions: pair found in {runs.rate()}, "
                f"right on all 2^{n} inputs in {runs.rate('solved')}"
            )

    print("other attention kinds at their own gain, n = 256")
    for attention, gain in (("softmax", 17.0), ("linear", 127.0), ("exp", 4.85), ("sigmoid", 5.5)):
        learner = Heads.pair(width=90, attention=attention, gain=gain, positions="balanced")
        rate = learn(learner, pairs(256, 30)).rate("solved")
        print(f"  {attention:8} right on every input in {rate}")

    step = streamed_step(200_000, 100, [60.0], pairs=10)
    print(
        "n = 200,000 with 200 trained numbers: worst |ŷ - y| over every input and "
        f"{len(step.pairs)} pairs {step.error.max():.1e}"
    )


if __name__ == "__main__":
    main()

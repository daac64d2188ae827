"""A chain of thought learned in one teacher-forced step, and in log2 k steps without a teacher.

.venv/bin/python examples/chain_one_step.py
"""

from paritylab import Rate, random_tree, train_chain, train_levels


def main() -> None:
    runs = train_chain(64, 32, samples=64_000, runs=5)
    print(f"teacher forcing, n = 64, k = 32, one step: solved in {Rate.of(runs.solved)}")
    print(f"  largest |ŷ - y| on 10,000 fresh inputs: {runs.error.max():.3f}")

    tree = random_tree(0, 32, 8)
    run = train_levels(tree, samples=2**17)
    print(f"no teacher, n = 32, k = 8: levels solved after each step {run.levels_per_step}")
    print(f"  loss after the last step {run.loss[-1]:.1e}")

    blind = train_levels(tree, samples=2**15, filtering=False)
    print(f"  without the filter {blind.levels_per_step}")


if __name__ == "__main__":
    main()

"""A chain of thought learned in one teacher-forced step, and in log2 k steps without a teacher.

.venv/bin/python examples/chain_one_step.py
"""

from paritylab import Chain, Sample, learn, random_tree, random_trees


def main() -> None:
    runs = learn(Chain.theorem5(), Sample(random_trees(64, 32, runs=5), 64_000))
    print(f"teacher forcing, n = 64, k = 32, one step: solved in {runs.rate('solved')}")
    print(f"  largest |ŷ - y| on 10,000 fresh inputs: {runs.stats['largest_error'].max():.3f}")

    tree = random_tree(0, 32, 8)
    runs = learn(Chain.theorem7(), Sample(tree, 2**17))
    levels = runs.stats["levels_per_step"][0].tolist()
    print(f"no teacher, n = 32, k = 8: levels solved after each step {levels}")
    print(f"  risk after the last step {runs.risk[0]:.1e}")

    learner = Chain.theorem7(curriculum="all", lowest_level=False)
    blind = learn(learner, Sample(tree, 2**15))
    print(f"  without the filter {blind.stats['levels_per_step'][0].tolist()}")


if __name__ == "__main__":
    main()

"""Training steps per second of `Transformer` beside a plain PyTorch loop at the same settings.

python benchmarks/transformer.py [--runs 4] [--steps 100] [--repeats 3] [--threads 1]

Both train the same model (one pre-norm layer, 4 heads, width 32, AdamW) on 64 new rows a step of a
sequential chain, n = 16, k = 8, in alternation. Nothing is solved early: the chains are coins. Both
are bound to as many cores as `--threads` says, and PyTorch is given as many threads; XLA takes one
per core. The ratio is given by the clock and by processor time, which other programs on the machine
disturb less. It prints one line and needs PyTorch, which the lab does not; without it, it says so
and stops.
"""

import argparse
import os
import time
from collections.abc import Callable

import numpy as np

from paritylab import Fresh, Transformer, learn, random_parities
from paritylab.learning.transformer.chains import plan

N, K, BATCH, WIDTH, HEADS, ETA, COINS = 16, 8, 64, 32, 4, 2e-3, 0.499


def train_ours(runs: int, steps: int) -> None:
    """All runs in one call, compiled before; the two tests of a run are part of the time."""
    learner = Transformer("line", flips=COINS, eta=ETA, steps=steps, check=steps)
    learn(learner, Fresh(random_parities(N, K, runs), BATCH))


def train_torch(runs: int, steps: int) -> None:
    """The runs one after another, as a loop in PyTorch usually is."""
    import torch

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens = torch.nn.Embedding(3, WIDTH)
            self.places = torch.nn.Embedding(N + K, WIDTH)
            self.attention = torch.nn.MultiheadAttention(WIDTH, HEADS, bias=False, batch_first=True)
            self.before, self.between, self.after = (torch.nn.LayerNorm(WIDTH) for _ in range(3))
            self.inner, self.outer = (
                torch.nn.Linear(WIDTH, 4 * WIDTH),
                torch.nn.Linear(4 * WIDTH, WIDTH),
            )
            self.readout = torch.nn.Linear(WIDTH, 2)
            self.mask = torch.triu(torch.ones(N + K, N + K, dtype=torch.bool), 1)[N:]

        def forward(self, read: torch.Tensor) -> torch.Tensor:
            vectors = self.tokens(read) + self.places.weight
            seen = self.before(vectors)
            mixed, _ = self.attention(
                seen[:, N:], seen, seen, attn_mask=self.mask, need_weights=False
            )
            vectors = vectors[:, N:] + mixed
            vectors = vectors + self.outer(torch.relu(self.inner(self.between(vectors))))
            return self.readout(self.after(vectors))

    for target in random_parities(N, K, runs):
        model = Layer()
        rule = torch.optim.AdamW(model.parameters(), ETA, weight_decay=1e-4)
        sums = torch.tensor(plan("line", target.subset, N).sums.T.astype(np.float32))
        for _ in range(steps):
            bits = torch.randint(0, 2, (BATCH, N))
            chain = (bits.float() @ sums).long() % 2 ^ (torch.rand(BATCH, K) < COINS).long()
            read = torch.cat([bits, torch.full((BATCH, 1), 2), chain[:, :-1]], 1)
            loss = torch.nn.functional.cross_entropy(model(read).flatten(0, 1), chain.flatten())
            rule.zero_grad()
            loss.backward()
            rule.step()


def seconds_of(train: Callable[[int, int], None], runs: int, steps: int) -> tuple[float, float]:
    """Seconds by the clock and of processor time."""
    clock, used = time.perf_counter(), time.process_time()
    train(runs, steps)
    return time.perf_counter() - clock, time.process_time() - used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("runs", 4), ("steps", 100), ("repeats", 3), ("threads", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed: nothing to compare with")
        return
    # Before the first computation: XLA makes its threads then, one for each core it may use.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: given.threads])
    torch.set_num_threads(given.threads)
    train_ours(given.runs, given.steps)  # compiles
    train_torch(1, 5)
    pairs = [
        [seconds_of(each, given.runs, given.steps) for each in (train_ours, train_torch)]
        for _ in range(given.repeats)
    ]
    (ours, own_used), (theirs, used) = np.median(pairs, axis=0)
    work = given.runs * given.steps
    print(
        f"steps per second, n = {N}, k = {K}, width {WIDTH}, {BATCH} rows: ours {work / ours:.0f}, "
        f"PyTorch {torch.__version__} {work / theirs:.0f}, ratio {theirs / ours:.2f} "
        f"by the clock, {used / own_used:.2f} by processor time "
        f"({given.threads} cores and threads each, median of {given.repeats}, {given.runs} runs of "
        f"{given.steps} steps, in alternation)"
    )


if __name__ == "__main__":
    main()

"""A claim of your own. Run it:  paritylab check --file examples/new_claim.py --effort quick

The function measures things and yields comparisons; the rule of the lab makes the verdict.
"""

from collections.abc import Iterator
from typing import Any

from paritylab import (
    Heads,
    Population,
    Trial,
    at_least,
    claim,
    control,
    learn,
    note,
    random_parities,
)


@claim(
    "my-noise",
    quick={"runs": 60, "steps": 400},  # default effort is what the signature says
    more="runs",  # doubled, twice at most, while it is undecided for want of runs
    planted=("labels that are nearly coins", {"noise": 0.49}, "refuted"),  # must turn the verdict
)
def flipped_labels(
    trial: Trial, runs: int = 100, steps: int = 600, *, noise: float = 0.1
) -> Iterator[Any]:
    """Flipped labels do not stop two heads at n = 10, k = 2.

    With 10 % flipped labels two heads still find both hidden bits in more than 1 of 3 runs.
    """
    found = {}
    for flipped in trial.track((0.0, noise)):
        data = Population(random_parities(n=10, k=2, runs=runs, key=trial.seed, noise=flipped))
        found[flipped] = learn(Heads.code(steps=steps), data, key=trial.seed)
    yield control(at_least("runs that find both bits without noise", found[0.0].rate(), 1 / 3))
    yield at_least(
        f"runs that do with {100 * noise:g} % flipped labels", found[noise].rate(), 1 / 3
    )
    yield note("mean risk of these runs", float(found[noise].risk.mean()))

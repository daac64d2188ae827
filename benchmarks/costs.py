"""How long blocks take and what `paritylab.sweep.cost` says: the estimate of each learner.

    OMP_NUM_THREADS=1 python benchmarks/costs.py [LEARNER…]

Seconds are processor time of a second block, so that nothing is compiled in it. The last line
counts the cases within a factor of 3.
"""

import sys
import time
from dataclasses import replace
from typing import Any

from paritylab.sweep import Spec
from paritylab.sweep.blocks import learner_of, run_spec
from paritylab.sweep.cost import cost_of

#: Learner, problem, settings, runs a block.
CASES: list[tuple[str, dict[str, Any], dict[str, Any], int]] = [
    ("heads", {"n": 12, "k": 2}, {"preset": "code"}, 200),
    ("heads", {"n": 16, "k": 3}, {"preset": "code", "steps": 500}, 20),
    ("heads", {"n": 100, "k": 3}, {"preset": "code", "steps": 100}, 10),
    ("heads", {"n": 30, "k": 2, "samples": 4000}, {"preset": "code", "steps": 400}, 20),
    ("one-step", {"n": 1024, "k": 3}, {}, 50),
    ("xor", {"n": 65536}, {}, 20),
    ("xor", {"n": 256, "samples": 200_000}, {}, 10),
    ("teacher", {"n": 256, "k": 128, "samples": 256_000}, {}, 5),
    ("levels", {"n": 64, "k": 32, "samples": 2**17}, {}, 3),
    ("layers", {"n": 256, "k": 128, "samples": 51_200}, {}, 5),
    ("full-batch", {"n": 32, "k": 16, "samples": 20_000}, {"mode": "cot", "steps": 20}, 2),
    ("full-batch", {"n": 32, "k": 16, "samples": 20_000}, {"mode": "selfcheck", "steps": 20}, 2),
    ("hiding-oracle", {"n": 32, "k": 16, "samples": 10_000}, {}, 2),
    ("feedforward", {"n": 8, "k": 2}, {}, 4),
    ("frozen", {"n": 12, "k": 2}, {"steps": 500}, 2),
    ("hinge-net", {"n": 20, "k": 3, "samples": 64, "fresh": True}, {"steps": 1000}, 4),
    ("recurrent", {"n": 12, "k": 2, "samples": 64, "fresh": True}, {"steps": 20}, 2),
    ("sign-descent", {"n": 12, "k": 3}, {"steps": 100}, 4),
]


def main(names: list[str]) -> None:
    near = measured = 0
    for name, problem, settings, block in CASES:
        if names and name not in names:
            continue
        spec = Spec.make(name, problem, settings, block=block)
        estimate = cost_of(spec, learner_of(spec)).seconds
        run_spec(spec)
        start = time.process_time()
        run_spec(replace(spec, seed=1))
        seconds = time.process_time() - start
        ratio = estimate / seconds
        measured, near = measured + 1, near + (1 / 3 <= ratio <= 3)
        print(f"{spec.cell}: estimate {estimate:.3g} s, {seconds:.3g} s, ratio {ratio:.2f}")
    print(f"{near} of {measured} within a factor of 3")


if __name__ == "__main__":
    main(sys.argv[1:])

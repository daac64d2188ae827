"""Arguments that once ended in an error from deep inside, a MemoryError or a silent NaN; found by
calling every public name with junk. python -m tests.faults.found names those that do so now."""

import math
import re

import numpy as np

import paritylab as pl
from paritylab.claims import Source
from paritylab.models import FrozenHeads, LayeredChain, PackedSigns, default_readout
from paritylab.problem import sets_up_to_symmetry
from paritylab.report import read_rows
from paritylab.solvers import support_power
from paritylab.sweep import rates, run_sweep

NAN, TABLE = math.nan, np.full((2, 6), math.nan)
PARITY, CODE = pl.Parity(6, (0, 2)), pl.OneHot(6)
DIRECTIONS = np.zeros((2, 6))
ATTENTION = np.full((2, 6), 1 / 6)

CASES = {
    "no problem": lambda: pl.parity_network((1, 2)),
    "no problem to transform": lambda: pl.parity_transformer(0),
    "no problem to sample": lambda: pl.sample(NAN, 0, 3),
    "no problem to enumerate": lambda: pl.enumerated_risk(pl.parity_network(PARITY), None),
    "no problem of a risk": lambda: pl.population_risk(ATTENTION, range(3)),
    "no problem of risks": lambda: pl.population_risks(2 * ATTENTION, [None, None]),
    "a sampled NaN": lambda: pl.sampled_risk(
        pl.FeedForward(TABLE, [0, 0], [1, 1], 0.0, np.ones((2, 6))), PARITY, samples=9
    ),
    "no model": lambda: pl.model_gradient(math.inf, PARITY),
    "no tree": lambda: pl.wide_step({}, 0, 16),
    "no tree to step on": lambda: pl.teacher_gradient(int, 0, 16),
    "no runs": lambda: pl.concatenate_runs([]),
    "no claim": lambda: list(pl.check([[]])),
    "no target": lambda: pl.Population([None]),
    "no key": lambda: pl.random_parity(TABLE, 6, 2),
    "an infinite key": lambda: pl.sample(PARITY, math.inf, 3),
    "huge n": lambda: pl.random_parity(0, 2**63, 2),
    "a huge circle": lambda: pl.Circle(2**31),
    "huge rows": lambda: pl.sample(PARITY, 0, 2**40),
    "rows without end": lambda: pl.sampled_risk(pl.parity_network(PARITY), PARITY, samples=2**63),
    "infinite successes": lambda: pl.Rate(math.inf, 5),
    "labels of no shape": lambda: pl.solution_spaces([[0, 1]], 0.5),
    "gains of no shape": lambda: pl.streamed_step(8, 16, 3.0),
    "a mask of objects": lambda: pl.teacher_gradient(
        pl.ParityTree(6, (0, 2)), 0, 16, mask=np.array([[1, None]], dtype=object)
    ),
    "an array for eta": lambda: pl.Annealed(eta=TABLE),
    "an array for k": lambda: pl.ParityClassifier(k=TABLE).fit([[0, 1], [1, 0]], [0, 1]),
    "NaN for a size": lambda: pl.OneHot(TABLE),
    "NaN in positions": lambda: pl.RandomSigns(TABLE),
    "NaN in a setting": lambda: pl.XorStep(positions=TABLE),
    "NaN for tau": lambda: pl.TwoHeads(DIRECTIONS, CODE, tau=NAN),
    "NaN for a readout": lambda: pl.TwoHeads(DIRECTIONS, CODE, readout=NAN),
    "NaN for a kind": lambda: pl.HeadAttention(DIRECTIONS, CODE, 2, pl.Cosine(), kind=NAN),
    "NaN for n": lambda: pl.ChainModel(np.zeros((9, 3)), NAN),
    "NaN for edges": lambda: pl.FeedForward(TABLE, [0, 0], [1, 1], 0.0, TABLE),
    "NaN for a seed": lambda: pl.Trial(seed=NAN),
    "NaN for runs": lambda: pl.Rows([[0, 1], [1, 0]], [1, -1], runs=NAN),
    "NaN for a place": lambda: Source("hg1", NAN),
    "NaN instead": lambda: pl.refuted("x", instead={"a": NAN}),
    "NaN for a loss": lambda: pl.Loss("mine", len, quadratic_pieces=TABLE),
    "an id of no claim": lambda: pl.claim([None], title="t", statement="s"),
    "phases of no sweep": lambda: pl.write_report([], "page", phases="x"),
    "a readout of nothing": lambda: default_readout(set()),
    "heads of nothing": lambda: FrozenHeads(3, 4),
    "layers of nothing": lambda: LayeredChain(np.zeros((9, 3)), "x"),
    "signs of nothing": lambda: PackedSigns(TABLE, 3),
    "orbits without end": lambda: sets_up_to_symmetry(2**63, 1),
    "a file with an escape": lambda: read_rows("\x1b[31m\n"),
    "a junta of too many bits": lambda: pl.random_junta(0, 2**63, 3),
    "noise of too many bits": lambda: pl.detectable_noise(10**308, 3, 100),
    "a table for a readout": lambda: pl.XorStep(readout=np.zeros((2, 3, 4))),
    "power of nothing": lambda: support_power(1e308, 3, 10, 0.1),
    "a store of nothing": lambda: rates(math.inf),
    "specs of nothing": lambda: run_sweep("x", None),
}


def main() -> None:
    for name, call in CASES.items():
        try:
            call()
            print(f"{name}: taken")
        except ValueError as error:
            if not re.fullmatch(r"[^\n\x1b]+", str(error)):
                print(f"{name}: {error!r}")
        except BaseException as error:
            print(f"{name}: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()

"""Theorem 5: training from random heads, where it stops and how it slows down near B."""

from typing import NamedTuple

import numpy as np

from paritylab.learning import Heads, Population, learn, temperature
from paritylab.models import HeadAttention, Zigzag
from paritylab.problem import Parity, sets_up_to_symmetry
from paritylab.risk import model_gradient
from paritylab.statistics import Rate
from paritylab.theory import hg1, hg1_limits

#: Smoothing b, temperature, step size (None: the proof's).
Setting = tuple[float, str, float | None]
#: Definition 2's ε. It is absolute: a smoothing b that raises the least risk buys nothing.
EPSILON = 0.05
#: Norm of heads that start on B.
NORM = 2


class ConvergenceRuns(NamedTuple):
    """Runs over all sets B up to symmetry at one setting. least_risk: of a run at the end."""

    n: int
    k: int
    b: float
    tau: str
    eta: float
    rate: Rate
    least_risk: float

    @property
    def size(self) -> str:
        return f"n = {self.n}, k = {self.k}"

    def __str__(self) -> str:
        return f"{self.size}, b = {self.b:g}, tau = {self.tau}, step {self.eta:.2g}"


def train_from_random_heads(
    seed: int, runs: int, steps: int, n: int, k: int, setting: Setting
) -> ConvergenceRuns:
    """Train k masked heads from random angles on every set B up to symmetry, in equal shares.

    setting: what the paper leaves open; a run converges if its risk ends at `EPSILON` or below.
    """
    b, tau, eta = setting
    sets = sets_up_to_symmetry(n, k)
    targets = sets * -(-runs // len(sets))
    step = hg1.step_size(k, temperature(tau, n), b) if eta is None else eta
    learner = Heads.paper(readout=Zigzag(k, b), tau=tau, eta=step, steps=steps)
    risk = learn(learner, Population(targets), key=seed).risk
    return ConvergenceRuns(n, k, b, tau, step, Rate.of(risk <= EPSILON), float(risk.min()))


def descend_into_trap() -> tuple[float, float]:
    """Descend from heads on two wrong positions, 1 and 6, into a local minimum; n = 8, B = {0, 3},
    b = 0.01, tau = 1/n.

    The risk there, and ½‖∇L‖² over μL with the μ of the proof. That the minimum is a strict one is
    proved by the certificate of hg1-lemma8-pl.
    """
    problem, readout = Parity(8, (0, 3)), Zigzag(2, 0.01)
    start = HeadAttention.at((1, 6), problem, readout=readout, tau=1 / 8)
    learner = Heads.paper(readout=readout, start=start.directions, eta=0.02, steps=4000)
    done = learn(learner, Population(problem))
    end = start.with_parameters(done.numbers[0])
    slope = np.linalg.norm(model_gradient(end, problem).gradient)
    # μ for the largest c₂ that Appendix A allows; the proof has ½‖∇L‖² ≥ μL at every setting.
    mu = hg1.descent_factor(8, 2, hg1.smallest_near_attention(np.asarray(end.attention()), 1 / 8))
    return float(done.risk[0]), float(slope**2 / (2 * mu * done.risk[0]))


def measure_fall_near_set(k: int, b: float, steps: int) -> tuple[float, float]:
    """How the excess E = L - L* falls along a path of heads that start on B with norm NORM, n = 12.

    L*: what heads on B leave at b. First the exponent of t in E over the last nine tenths of the
    steps t, then E at the end over 1/(2c·ηt), c = r²κ²/2k, which ½‖∇L‖²/E² tends to
    (hg1-lemma8-pl).
    """
    problem = Parity(12, (2, 7, 10)[:k])
    n, eta, least = problem.n, 0.1, hg1_limits.smoothing_floor(k, b)
    start = HeadAttention.on(problem, readout=Zigzag(k, b), tau=1 / n)
    learner = Heads.paper(
        readout=start.readout, start=NORM * start.directions, eta=eta, steps=steps
    )
    trace = learn(learner, Population(problem), trace=steps // 40).trace
    t, excess = trace["step"].astype(float), trace["risk"][0] - least
    late = t >= steps / 10
    exponent = float(np.polyfit(np.log(t[late]), np.log(excess[late]), 1)[0])
    law = float(excess[-1] * 2 * hg1.slope_on_target(n, k, 1 / n, b) * eta * t[-1])
    return exponent, law

"""The record of a search: what was examined, what was left out, and what the answer says of it."""

import math
import subprocess
import sys

import numpy as np
import pytest
from tests.baselines.random_tables import planted, unrelated

from paritylab.baselines import METHODS, solve
from paritylab.baselines.answer import Search, Size, Step, Stop


def search_of(*steps, stop=Stop.TOO_MANY):
    return Search(200, 100, 30, None, 0.01, steps, stop, 0.1)


def test_a_size_that_was_begun_is_not_complete():
    sizes = (Size(1, 30, 30), Size(2, 435, 435), Size(3, 4060, 4059))
    step = Step("correlation", Stop.BUDGET, sizes)
    assert step.largest == 2
    assert not search_of(step).complete


def test_only_the_step_that_found_a_set_counts_for_completeness():
    large, found = Step("correlation", Stop.TOO_MANY), Step("elimination", Stop.FOUND, trials=8)
    assert search_of(large, found, stop=Stop.FOUND).complete
    assert search_of(large, found, stop=Stop.FOUND).method == "elimination"
    assert not search_of(large, found).complete


def test_methods_that_examined_nothing_are_not_named():
    none = Step("restarts", Stop.TOO_FEW_ROWS, clean=True)
    pairs = Step("correlation", Stop.EXHAUSTED, (Size(2, 435, 435),))
    assert search_of(none, pairs, stop=Stop.EXHAUSTED).method == "correlation"
    assert search_of(none, stop=Stop.TOO_FEW_ROWS).method == "restarts"


def cases():
    clean, noisy = planted(16, 4, 0.0, 70, seed=2)[:2], planted(12, 2, 0.1, 300, seed=0)[:2]
    for method in METHODS:
        yield method, *clean, None
    yield "walsh", *noisy, 2
    yield "elimination", *planted(10, 3, 0.02, 200, seed=1)[:2], None
    yield "auto", *unrelated(40, 30, seed=0), None
    yield "auto", *unrelated(60, 100, seed=0), 4
    yield "restarts", *unrelated(60, 60, seed=0), 30
    yield "auto", np.zeros((5, 3), int), [1, -1, 1, 1, 1], None


@pytest.mark.parametrize(("method", "bits", "labels", "k"), list(cases()))
def test_an_answer_agrees_with_its_search_and_with_the_rows(method, bits, labels, k):
    answer = solve(bits, labels, method=method, k=k, budget=0.5)
    search = answer.search
    assert (search.stop is Stop.FOUND) == (answer.subset is not None) == (not answer.abstained)
    assert answer.abstained or answer.p_value <= 0.01
    unfinished = search.stop in (Stop.BUDGET, Stop.TOO_MANY)
    assert not answer.abstained or search.complete == (not unfinished)
    assert answer.agreement + answer.noise_rate == pytest.approx(1)
    if answer.best.subset:
        odd = np.asarray(bits)[:, answer.best.subset].sum(axis=1) % 2
        fits = answer.best.sign * (1 - 2 * odd.astype(int)) == np.asarray(labels)
        assert answer.best.agreeing == fits.sum()
        assert str(answer).startswith("no parity found") == answer.abstained


def test_the_answer_as_text():
    bits = np.arange(64)[:, None] >> np.arange(6) & 1
    assert str(solve(bits, 1 - (bits[:, 1] ^ bits[:, 4]))) == (
        "-(-1)^(x1 + x4) fits 64 of 64 rows (100 %), p-value 9.8e-17"
    )


def test_no_p_value_is_zero():
    bits = np.random.default_rng(0).integers(0, 2, (5000, 6))
    answer = solve(bits, 1 - 2 * (bits[:, 0] ^ bits[:, 1]))
    assert 0 < answer.p_value < 1e-290


def test_the_p_value_counts_every_set_of_every_size():
    """Two columns, all four sign patterns once: by hand 2/C(4, 2), times C(2, 2)·2·3 sets."""
    bits = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    answer = solve(bits, [0, 1, 1, 0])
    assert answer.best.subset == (0, 1)
    assert answer.abstained
    assert math.exp(answer.best.log_p) == pytest.approx(2 / 6 * 6)
    assert math.exp(solve(bits, [0, 1, 1, 0], k=2).best.log_p) == pytest.approx(2 / 6)


def test_importing_the_solvers_loads_neither_jax_nor_scikit_learn():
    code = (
        "import sys, paritylab.baselines as baselines\n"
        "baselines.solve([[0, 1], [1, 0], [1, 1]], [0, 1, 1])\n"
        "assert not {'jax', 'sklearn'} & set(sys.modules)\n"
        "assert baselines.ParityClassifier().alpha == 0.01\n"
        "assert 'jax' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    import paritylab.baselines

    assert all(getattr(paritylab.baselines, name) for name in paritylab.baselines.__all__)
    with pytest.raises(AttributeError, match="nothing_here"):
        paritylab.baselines.nothing_here  # noqa: B018

"""The record of a search: nothing is promised of what was not searched, and JSON keeps it all."""

import json

import numpy as np
import pytest
from drawn import planted, unrelated
from scipy import stats

from xorfind import METHODS, solve
from xorfind.answer import Answer, Conclusion, Search, Size, Step, Stop
from xorfind.codec import from_json, to_json
from xorfind.evidence.levels import log_family, log_overlap_tails
from xorfind.evidence.power import least_agreement
from xorfind.text import not_searched_text, searched_text


def search_of(*steps, stop=Stop.TOO_MANY, k=None, columns=30):
    sizes = [size.k for step in steps for size in step.sizes]
    imbalance = ((0.0, 0.1),) * max(sizes, default=0)
    return Search(200, 100, columns, k, 0.01, imbalance, steps, stop, 0.1)


def test_power_is_of_complete_sizes_only():
    sizes = (Size.of(30, 1, 30), Size.of(30, 2, 435), Size.of(30, 3, 4059))
    search = search_of(Step("correlation", Stop.BUDGET, sizes))
    assert sizes[2].sets == 4060
    assert [k for k, _ in search.power()] == [1, 2]
    assert not search.complete
    assert searched_text(search) == (
        "4,524 sets of 30 columns (all of sizes 1 to 2, 4,059 of 4,060 of size 3)"
    )
    assert "the other sets of 3 columns and larger ones" in not_searched_text(search)


def test_sets_that_fit_every_row_say_nothing_of_noisy_ones():
    met = Step("meeting", Stop.EXHAUSTED, (Size.of(30, 2, 435),), clean=True)
    gone = Step("elimination", Stop.CONTRADICTION, every_size=True, clean=True)
    search = search_of(gone, met, stop=Stop.EXHAUSTED)
    assert search.complete
    assert (search.sizes, search.power()) == ((), [])


def test_sets_beyond_counting_are_none_and_never_complete():
    size = Size.of(20_000, 10_000, 5)
    assert size.sets is None
    assert not size.complete
    assert Size.of(400, 3, 10_586_800).complete


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
def test_json_keeps_the_whole_search(method, bits, labels, k):
    answer = solve(bits, labels, method=method, k=k, budget=0.5)
    search = answer.search
    text = json.dumps(to_json(answer), allow_nan=False)
    again = from_json(Answer, json.loads(text))
    assert str(again) == str(answer)
    assert json.dumps(to_json(again), allow_nan=False) == text
    assert again.search == search
    assert again.search.power() == search.power()
    assert searched_text(search)
    assert search.found == (answer.subset is not None)
    assert (answer.conclusion is Conclusion.NONE) == (answer.subset is None)
    assert search.found or search.complete == (search.stop not in (Stop.BUDGET, Stop.TOO_MANY))


@pytest.mark.parametrize(
    ("rows", "share", "bias"),
    [(80, 0.5, 0.0), (200, 0.2, 0.0), (200, 0.2, 0.6), (1500, 0.1, 0.5), (4000, 0.02, 0.9)],
)
def test_a_parity_of_the_least_agreement_is_supported_99_times_in_100(rows, share, bias):
    """Labels true in a share of the rows, a parity of mean `bias`: drawn, and tested."""
    minus, level = round(rows * share), np.log(0.01) - log_family(20, 2, True)
    least = least_agreement(20, 2, rows, minus, (bias, bias))
    odd = (1 - bias) / 2
    both = (least - 1 + odd + share) / 2
    generator, draws, hits = np.random.default_rng(rows), 2000, 0
    for _ in range(draws):
        column = generator.permutation(rows) < round(rows * odd)
        label = generator.random(rows) < np.where(column, both / odd, (share - both) / (1 - odd))
        counts = (int(column.sum()), int(label.sum()), int((column & label).sum()))
        hits += np.log(2) + min(log_overlap_tails(rows, *counts)) <= level
    assert stats.binom.cdf(hits, draws, 0.985) > 1e-4
    assert stats.binom.sf(hits - 1, draws, 0.996) > 1e-4


def test_no_agreement_is_promised_that_the_labels_cannot_have():
    for minus in range(1, 200, 7):
        for imbalance in ((0.0, 0.1), (0.0, 0.9), (0.8, 0.9)):
            least = least_agreement(20, 3, 200, minus, imbalance)
            mean = abs(1 - minus / 100)
            near = min(max(mean, imbalance[0]), imbalance[1])
            assert least is None or least <= 1 - abs(near - mean) / 2 + 0.005

"""Certificates verify; spoiled witnesses, reversed inequalities and false statements do not."""

import copy
import random
from fractions import Fraction
from itertools import product
from math import exp, sqrt

import pytest

pytest.importorskip("flint")

from flint import arb, fmpq

from paritylab.proofs import expected_seconds, load_certificate, provable, verified, verify
from paritylab.proofs.checker import CERTIFICATES, _as_rationals, statement
from paritylab.proofs.kernel import NotShownError, Proof
from paritylab.proofs.pairs import UNIT, Cell

QUICK = [id for id in provable() if expected_seconds(id) <= 1]
SLOW = [id for id in provable() if id not in QUICK]


def certificate(id: str) -> dict:
    return copy.deepcopy(load_certificate(CERTIFICATES / f"{id}.json"))


def shown(id: str, held: dict) -> bool:
    """Whether a witness is accepted and the statement shown from it."""
    try:
        return verify(id, held).verified
    except ValueError:
        return False


def test_every_statement_has_a_certificate_and_the_other_way_round():
    assert sorted(path.stem for path in CERTIFICATES.glob("*.json")) == provable()


@pytest.mark.parametrize("id", QUICK)
def test_a_certificate_verifies(id):
    result = verify(id)
    assert result.verified, result.failure
    assert result.steps
    assert verified(id)


@pytest.mark.slow
@pytest.mark.parametrize("id", SLOW)
def test_a_long_proof_verifies(id):
    assert verify(id).verified


@pytest.mark.parametrize("id", QUICK)
def test_a_reversed_inequality_fails(id):
    for number in range(len(verify(id).steps)):
        assert not verify(id, reverse=number).verified, number


#: Witnesses that no longer witness.
SPOILED = {
    "hg1-lemma8-pl": {
        "centre": [[Fraction(87, 100), Fraction(87, 100)], [Fraction(-123, 100), 0]],
        "radius": Fraction(1, 10**3),
        "mu": 2,
        "between": [[3, Fraction(31, 10)], [-2, Fraction(-187, 100)]],
    },
    "hg1-lemma17": {"angles": [0, 0], "inputs": [[1] * 8, [0] * 8]},
    "hg1-lemma18": {"places": [0, 1], "input": [1, 0, 0, 0, 0, 0, 0, 0], "s": 1},
    "hg1-lemma19": {"places": [0, 1]},
    "hg1-attention-bounds": {"angle": Fraction(3, 4)},
    "hg1-prop21": {"angle": Fraction(-1, 20)},
    "hg1-lemma14-sign": {"position": 5, "head": [10, 0], "z": 100, "b": 10**4},
    "hg1-misprints": {"s": Fraction(1, 4), "input": [1] * 6},
    "hg1-temperature": {"n0": 78},
    "hg1-thm11": {"scale": 1},
    "hg1-remark12": {"scales": [1] * 5},
    "hg1-marginals": {"blind": Fraction(-3, 4)},
    "hg1-lemma6-smooth": {"input": [0, 0, 0, 0], "heads": [[100, 0], [100, 0]]},
    "ks-thm1": {"pairs": [[0, 1], [2, 3], [4, 5]]},
    "ks-prop3-variance": {"weights": [0] * 5},
    "ks-lemma8": {"radius": 2},
    "ks-thm7": {"small": 1, "epsilons": [Fraction(11, 10), Fraction(8, 5), Fraction(21, 10)]},
    "lab-few-heads": {"share": Fraction(501, 1000)},
    "lab-counting-transformer": {"sharpness": Fraction(1, 2)},
}


def test_every_witness_is_spoiled_once():
    with_witness = {id for id in QUICK if statement(id).WITNESS}
    assert set(SPOILED) == with_witness


@pytest.mark.parametrize(("id", "name"), [(id, name) for id in SPOILED for name in SPOILED[id]])
def test_a_spoiled_witness_fails(id, name):
    held = certificate(id)
    held["witness"][name] = SPOILED[id][name]
    assert not shown(id, held)


def test_a_minimum_that_is_moved_by_a_millionth_fails():
    held = certificate("hg1-lemma8-pl")
    held["witness"]["centre"][0][0] += Fraction(1, 10**6)
    assert "gradient at the centre" in verify("hg1-lemma8-pl", held).failure


#: Settings for which the statement is false.
FALSE = {
    "hg1-lemma8-pl": {"B": [0, 4]},
    "hg1-lemma17": {"b": 10**6},
    "hg1-lemma18": {"tau": 100},
    "hg1-lemma19": {"k": 2},
    "hg1-attention-bounds": {"n": 64},
    "hg1-prop21": {"tau": 1},
    "hg1-lemma14-sign": {"tau": 10**3},
    "hg1-misprints": {"B": [0]},
    "hg1-temperature": {"from": 12},
    "hg1-thm11": {"n": 5},
    "hg1-remark12": {"n": [2, 3]},
    "hg1-marginals": {"p": Fraction(1, 2)},
    "hg1-lemma6-smooth": {"b": 1},
    "hg1-floor": {"at": Fraction(1, 10**6)},
    "ks-thm1": {"n": [8]},
    "ks-prop3-variance": {"k": 4},
    "ks-lemma8": {"k": 32},
    "ks-thm7": {"levels": 2},
    "lab-few-heads": {"largest n": 3},
    "lab-counting-transformer": {"most": Fraction(3, 2)},
}


@pytest.mark.parametrize("id", FALSE)
def test_a_false_statement_does_not_verify(id):
    held = certificate(id)
    held["setting"] |= FALSE[id]
    with pytest.raises(ValueError, match="the statement is about"):
        verify(id, held)
    # The setting is refused; without that check the proof would fail, too.
    proof = Proof()
    with pytest.raises((NotShownError, ArithmeticError, ValueError)):
        statement(id).prove(proof, *(_as_rationals(held[part]) for part in ("setting", "witness")))


def test_equal_heads_without_mask_are_stationary_for_the_full_gradient():
    """The derivative along (0, 0, u) is that of the enumerated risk of the unmasked model."""
    module = statement("hg1-lemma8-pl")
    n, subset, tau, b = 8, (0, 4), 1 / 8, 0.01

    def direct(u: float) -> float:
        total = 0.0
        for x in product((0, 1), repeat=n):
            weights = [exp(u * bit / tau) for bit in x]
            z = 2 * sum(w * bit for w, bit in zip(weights, x, strict=True)) / sum(weights)
            y = (-1) ** sum(x[i] for i in subset)
            parts = [(q, z - q + 0.5) for q in (1, 2)]
            ready = 1 + sum((-1) ** q * (8 * q - 4) * (t + sqrt(t * t + b)) / 2 for q, t in parts)
            total += max(0.0, 1 - y * ready) ** 2 / 2**n
        return total

    at, step = 3.0, 1e-5
    found = module._equal_heads(arb(at), n, 2, fmpq(1, 100))
    assert abs(float(found.value.mid()) - direct(at * tau)) < 1e-9
    quotient = (direct((at + step) * tau) - direct((at - step) * tau)) / (2 * step)
    assert abs(float(found.slope.mid()) - quotient) < 1e-6


def theorem_5():
    """The statement's module, its model, its bounds, its setting and its heights."""
    held = _as_rationals(certificate("hg1-thm5"))
    heights = [[fmpq(h) for h in row] for row in held["witness"]["heights"]]
    model = (8, (0, 3), held["setting"]["b"], fmpq(held["witness"]["far"]))
    module = statement("hg1-thm5")
    return module, model, module._pairs(model), held["setting"], heights


def test_parts_of_theorem_5_fail_if_reversed():
    module, _, pairs, setting, heights = theorem_5()
    module._smooth(Proof(), setting["M"], setting["b"])
    for number in (0, 1):
        with pytest.raises(NotShownError):
            module._smooth(Proof(reverse=number), setting["M"], setting["b"])
        with pytest.raises(NotShownError):
            module._symmetric(Proof(reverse=number), heights, 3, 8)
    with pytest.raises(NotShownError):
        module._smooth(Proof(), fmpq(220), setting["b"])
    ray, sector = module.ray(pairs, 5), module.sector(pairs, 4)
    with pytest.raises(NotShownError):
        module.above(Proof(reverse=0), pairs, "reversed", ray, sector, fmpq(111, 50))


def test_theorem_5_refuses_heights_that_are_not_there():
    module, _, pairs, _, heights = theorem_5()
    uneven = [list(row) for row in heights]
    uneven[1][5] += fmpq(1, 100)
    with pytest.raises(NotShownError, match="change places"):
        module._symmetric(Proof(), uneven, 3, 8)
    ray, sector = module.ray(pairs, 0), module.sector(pairs, 3)
    with pytest.raises(NotShownError):
        module.above(Proof(), pairs, "too high", ray[1:], sector[1:], fmpq(2))


def test_starts_at_small_temperatures_are_those_of_sampled_heads():
    """Counted pieces of a cell hold only starts below its height, at this norm and larger ones."""
    module, model, pairs, _, heights = theorem_5()
    generator, (p, q) = random.Random(0), (1, 5)
    below, most = module.small_start(Proof(), model, p, q, heights[p][q], fmpq(32), 3)
    assert 0 < below <= most <= 1
    risks = []
    for norm in (32, 32, 50, 200):
        for _ in range(40):
            at = [
                Cell(fmpq(norm), fmpq(norm), t, t)
                for t in (
                    fmpq(2 * j - 1, 8) + fmpq(generator.randrange(1, 256), 1024) for j in (p, q)
                )
            ]
            risks.append(pairs.high(*at) < heights[p][q] * UNIT * 256)
    assert sum(risks) / len(risks) > float(below.p) / float(below.q) - 0.15


def test_pieces_are_counted_only_if_all_larger_ones_are():
    module = theorem_5()[0]
    everything = [((0, 4), (0, 4))]
    assert module._closed(4, everything) == 16
    assert module._closed(4, [((0, 4), (0, 3))]) == 0
    assert module._closed(4, [((1, 4), (0, 4)), ((0, 1), (2, 4))]) == 14


def cubes(proof, x):
    """A task for `spread`: one step, and a value."""
    proof.less(f"{x} < 4", x, 4)
    return x**3


@pytest.mark.parametrize("jobs", [1, 2])
def test_tasks_side_by_side_come_back_in_order(jobs):
    proof = Proof(jobs=jobs)
    assert proof.spread(cubes, [(1,), (2,), (3,)], 1) == [1, 8, 27]
    assert [words for words, _ in proof.steps] == ["1 < 4", "2 < 4", "3 < 4"]
    with pytest.raises(NotShownError, match="4 < 4"):
        proof.spread(cubes, [(1,), (4,), (3,)], 1)
    with pytest.raises(NotShownError, match="2 < 4"):
        Proof(reverse=1, jobs=jobs).spread(cubes, [(1,), (2,), (3,)], 1)


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_the_share_of_starts_fails_if_reversed(number):
    module, model, _, setting, heights = theorem_5()
    setting = {**setting, "share": [fmpq(1, 10)] * 2, "up to": {"tau": fmpq(1, 32), "share": 0}}
    module._starts(Proof(), setting, model, heights, [4, 4, 3])
    with pytest.raises(NotShownError):
        module._starts(Proof(reverse=number), setting, model, heights, [4, 4, 3])

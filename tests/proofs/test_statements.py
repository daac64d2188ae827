"""Certificates verify; spoiled witnesses, reversed inequalities and false statements do not."""

import copy
from fractions import Fraction

import pytest

pytest.importorskip("flint")

from flint import fmpq

from paritylab.proofs import expected_seconds, load_certificate, provable, verified, verify
from paritylab.proofs.checker import CERTIFICATES, statement
from paritylab.proofs.kernel import NotShownError, Proof
from paritylab.proofs.pairs import Pairs

QUICK = [id for id in provable() if expected_seconds(id) <= 1]
SLOW = [id for id in provable() if id not in QUICK]


def certificate(id: str) -> dict:
    return copy.deepcopy(load_certificate(CERTIFICATES / f"{id}.json"))


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
}


def test_every_witness_is_spoiled_once():
    with_witness = {id for id in QUICK if statement(id).WITNESS}
    assert set(SPOILED) == with_witness


@pytest.mark.parametrize(("id", "name"), [(id, name) for id in SPOILED for name in SPOILED[id]])
def test_a_spoiled_witness_fails(id, name):
    held = certificate(id)
    held["witness"][name] = SPOILED[id][name]
    assert not verify(id, held).verified


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
    "hg1-floor": {"b": Fraction(1, 10**6)},
    "ks-thm1": {"n": [8]},
    "ks-prop3-variance": {"k": 4},
    "ks-lemma8": {"k": 32},
    "ks-thm7": {"levels": 2},
    "lab-few-heads": {"largest n": 3},
}


@pytest.mark.parametrize("id", FALSE)
def test_a_false_statement_does_not_verify(id):
    held = certificate(id)
    held["setting"] |= FALSE[id]
    assert not verify(id, held).verified


def theorem_5():
    """The statement's module, its bounds and its witness, as the proof has them."""
    held = certificate("hg1-thm5")["witness"]
    heights = [
        [fmpq(Fraction(h).numerator, Fraction(h).denominator) for h in row]
        for row in held["heights"]
    ]
    return statement("hg1-thm5"), Pairs(8, (0, 3), fmpq(1, 8), fmpq(1, 100), fmpq(4)), heights


def test_parts_of_theorem_5_fail_if_reversed():
    module, pairs, heights = theorem_5()
    tau, b = fmpq(1, 8), fmpq(1, 100)
    module._smooth(Proof(), 15000, tau, b)
    for number in (0, 1):
        with pytest.raises(NotShownError):
            module._smooth(Proof(reverse=number), 15000, tau, b)
        with pytest.raises(NotShownError):
            module._symmetric(Proof(reverse=number), heights, 3, 8)
    with pytest.raises(NotShownError):
        module._smooth(Proof(), 14000, tau, b)
    ray, sector = module.ray(pairs, 5), module.sector(pairs, 4)
    with pytest.raises(NotShownError):
        module._above(Proof(reverse=0), pairs, "reversed", ray, sector, fmpq(111, 50))


def test_theorem_5_refuses_heights_that_are_not_there():
    module, pairs, heights = theorem_5()
    uneven = [list(row) for row in heights]
    uneven[1][5] += fmpq(1, 100)
    with pytest.raises(NotShownError, match="change places"):
        module._symmetric(Proof(), uneven, 3, 8)
    ray, sector = module.ray(pairs, 0), module.sector(pairs, 3)
    with pytest.raises(NotShownError):
        module._above(Proof(), pairs, "too high", ray[1:], sector[1:], fmpq(2))


def test_the_share_of_starts_is_enclosed_coarsely():
    module, pairs, heights = theorem_5()
    with pytest.raises(NotShownError, match="share of the starts"):
        module._starts(Proof(), pairs, heights, 2)


@pytest.mark.slow
def test_the_share_of_starts_fails_if_reversed():
    module, pairs, heights = theorem_5()
    with pytest.raises(NotShownError):
        module._starts(Proof(reverse=0), pairs, heights, 5)

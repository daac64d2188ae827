"""The kernel against the engine, which it does not import, and against random points."""

import ast
import random
import sys
from math import cos, pi, sin
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("flint")

from flint import arb, fmpq

import paritylab.proofs
from paritylab import Circle, HeadAttention, Parity, Zigzag
from paritylab.proofs import kernel, load_certificate
from paritylab.proofs.checker import CERTIFICATES
from paritylab.proofs.kernel import NotShownError, Proof
from paritylab.proofs.pairs import UNIT, Cell, Pairs
from paritylab.proofs.statements import hg1_temperature
from paritylab.risk import enumerated_gradient, population_risk

ROOM = Path(paritylab.proofs.__file__).parent
TAU, B = fmpq(1, 8), fmpq(1, 100)


def test_nothing_but_flint_and_the_standard_library_is_imported():
    allowed = set(sys.stdlib_module_names) | {"flint"}
    for path in ROOM.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.startswith("paritylab.proofs") or name.split(".")[0] in allowed, path


def heads_at(directions, tau=1 / 8, n=8, b=0.01):
    return HeadAttention(
        np.array(directions), Circle(n), len(directions), Zigzag(len(directions), b), tau
    )


def test_risk_and_gradient_of_the_engine_lie_in_the_enclosure():
    centre = load_certificate(CERTIFICATES / "hg1-lemma8-pl.json")["witness"]["centre"]
    points = [[[float(v) for v in head] for head in centre], [[0.3, -0.7], [1.1, 0.2]]]
    for directions in points:
        risk, gradient, *_ = enumerated_gradient(heads_at(directions), Parity(8, (0, 3)))
        ours = kernel.risk(directions, 8, (0, 3), TAU, B)
        assert abs(float(ours.value.mid()) - risk.value) < 1e-9
        assert np.allclose([float(g.mid()) for g in ours.gradient], gradient.ravel(), atol=1e-7)


def test_the_hessian_is_that_of_the_gradient():
    at, step = [[0.3, -0.7], [1.1, 0.2]], 1e-5
    ours = kernel.risk(at, 8, (0, 3), TAU, B).hessian
    for i in range(4):
        moved = [np.array(at).ravel() + sign * step * np.eye(4)[i] for sign in (1, -1)]
        slopes = [kernel.risk(m.reshape(2, 2).tolist(), 8, (0, 3), TAU, B).gradient for m in moved]
        quotient = [float(((a - b) / (2 * step)).mid()) for a, b in zip(*slopes, strict=True)]
        assert np.allclose(quotient, [float(v.mid()) for v in ours[i]], atol=1e-4)


def test_bounds_over_boxes_hold_at_points_of_the_engine():
    pairs, generator = Pairs(8, (0, 3), TAU, B, fmpq(4)), random.Random(0)
    for _ in range(12):
        corners = [(generator.randrange(160), generator.randrange(256)) for _ in range(2)]
        wide = generator.choice((1, 2, 4))
        cells = [
            Cell(fmpq(r, 40), fmpq(r + wide, 40), fmpq(t, 128), fmpq(t + wide, 128))
            for r, t in corners
        ]
        low, high = pairs.low(*cells), pairs.high(*cells)
        directions = []
        for r, t in corners:
            norm = (r + wide * generator.random()) / 40
            angle = pi * (t + wide * generator.random()) / 128
            directions.append([norm * sin(angle), norm * cos(angle)])
        value = population_risk(heads_at(directions), Parity(8, (0, 3))).value
        if low is not None and high is not None:
            assert low / (256 * UNIT) - 1e-7 <= value <= high / (256 * UNIT) + 1e-7


def test_far_heads_are_covered():
    pairs = Pairs(8, (0, 3), TAU, B, fmpq(4))
    for norm, past in ((4.0, 0.0), (6.0, 0.02), (40.0, 0.001), (5.0, pi / 8)):
        heads = heads_at([[norm * sin(past + pi / 4), norm * cos(past + pi / 4)], [0.0, 9.0]])
        shares = np.asarray(heads.attention(), dtype=float)[0]
        share = fmpq(int(1024 * min(1.0, shares[1] / (shares[1] + shares[2]))), 1024)
        least, most = max(fmpq(1, 2), share - fmpq(2, 1024)), min(fmpq(1), share + fmpq(2, 1024))
        cell = Cell(None, None, least, most, 1, 1)
        other = Cell(None, None, fmpq(1), fmpq(1), 0, 1)
        value = population_risk(heads, Parity(8, (0, 3))).value
        assert pairs.low(cell, other) / (256 * UNIT) <= value + 1e-5
        assert value <= pairs.high(cell, other) / (256 * UNIT) + 1e-5


def test_peak_of_the_engine_lies_in_the_enclosure():
    heads = HeadAttention.on(Parity(50, (7,)), tau=1 / 50)
    ours = hg1_temperature.peak(50, fmpq(1, 50))
    assert abs(float(ours.mid()) - float(heads.attention().max())) < 1e-6


def halves(box):
    low, high = box
    middle = (low + high) / 2
    return None if high - low < fmpq(1, 1000) else [(low, middle), (middle, high)]


def test_bisection_shows_what_is_true_and_stops_at_what_is_not():
    def below(level):
        return lambda box: bool(kernel.hull(*box) ** 2 < level)

    boxes = [(fmpq(-1), fmpq(1))]
    assert Proof().everywhere("x² < 1.1", boxes, below(fmpq(11, 10)), halves) > 1
    with pytest.raises(NotShownError):
        Proof().everywhere("x² < 0.9", boxes, below(fmpq(9, 10)), halves)
    with pytest.raises(NotShownError):
        Proof(reverse=0).everywhere("x² < 1.1", boxes, below(fmpq(11, 10)), halves)
    with pytest.raises(NotShownError, match="nothing"):
        Proof().everywhere("nothing", [], below(1), halves)


def test_pivots_tell_definite_matrices():
    assert all(p > 0 for p in kernel.pivots([[arb(2), arb(1)], [arb(1), arb(1)]]))
    assert not all(p > 0 for p in kernel.pivots([[arb(1), arb(2)], [arb(2), arb(1)]]))


def test_exact_steps_refuse_inexact_numbers():
    with pytest.raises(TypeError, match="rational"):
        Proof().equal("no", arb(1), 1)
    with pytest.raises(TypeError, match="rational"):
        Proof().at_most("no", 0.5, 1)

"""One right call for each public name; the fuzz of names spoils one argument of it, or two.

A name that is not here gets junk for all its arguments.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import paritylab as pl


class Call(NamedTuple):
    """Arguments by name, and how the value is used (an iterator has to be asked to do anything)."""

    arguments: dict[str, Any]
    use: Callable[[Any], Any] = lambda value: value


@cache
def right_calls() -> dict[str, Call]:
    """By name; built once per process."""
    parity, tree = pl.Parity(6, (0, 2)), pl.ParityTree(6, (0, 2, 3, 5))
    junta = {"n": 5, "subset": (0, 2), "table": (1.0, -1.0, -1.0, 1.0)}
    heads = pl.parity_transformer(parity)
    network = pl.parity_network(parity)
    bits = np.random.default_rng(0).integers(0, 2, (40, 6))
    labels = 1 - 2 * (bits[:, 0] ^ bits[:, 2])
    attention = np.full((2, 6), 1 / 6)
    learner, rows = pl.OneStep(width=8), pl.Rows(bits, labels)
    population = pl.Population([pl.Parity(6, (0, 2))] * 2)
    runs = pl.learn(learner, population)
    targets = {"targets": [parity, parity]}
    search = {"bits": bits, "labels": labels}
    model = {"model": heads, "problem": parity, "loss": "squared_hinge"}
    exact = {"problem": parity, "readout": "zigzag", "loss": "hinge", "tolerance": 1e-6}
    exact |= {"route": "auto"}
    numbers = {name: getattr(runs, name) for name in _RUNS}
    line = pl.Line("a", [1, 2], [3, 4], [2, 3], [4, 5])
    return {
        "AllInputs": Call(targets),
        "Fresh": Call(targets | {"samples": 8}),
        "Population": Call(targets),
        "Sample": Call(targets | {"samples": 8}),
        "Rows": Call(search),
        "Bars": Call({"values": {"a": 1.0}, "y": "y", "low": {"a": 0.5}, "high": {"a": 2.0}}),
        "ChainModel": Call({"scores": np.zeros((9, 3)), "n": 6, "link": "cos", "mask": "token"}),
        "Circle": Call({"n": 6}),
        "OneHot": Call({"size": 6}),
        "RandomSigns": Call({"table": np.ones((6, 4))}),
        "FeedForward": Call({name: getattr(network, name) for name in _NETWORK}),
        "FullFormAttention": Call(
            {"matrices": np.zeros((2, 2, 2)), "code": pl.Circle(6), "k": 2}
            | {"readout": pl.Zigzag(2), "tau": 1.0}
        ),
        "HeadAttention": Call({name: getattr(heads, name) for name in _HEADS}),
        "TwoHeads": Call({"directions": np.zeros((2, 6)), "code": pl.OneHot(6), "tau": 1.0}),
        "PiecewiseLinear": Call({"knots": [0.0, 1.0], "values": [1.0, -1.0]}),
        "Zigzag": Call({"k": 2, "b": 0.1}),
        "Heatmap": Call({"values": [[1.0, 2.0]], "x": "x", "y": "y", "columns": (0,)}),
        "Histogram": Call({"values": [1.0, 2.0], "x": "x"}),
        "Line": Call({"label": "a", "x": [1, 2], "y": [3, 4], "low": [2, 3], "high": [4, 5]}),
        "Lines": Call({"lines": [line], "x": "x", "y": "y", "log": "x"}),
        "Mark": Call({"at": 1.0, "label": "a", "axis": "y"}),
        "SideBySide": Call({"parts": [pl.Histogram([1.0], "x")], "caption": "c"}),
        "Junta": Call(junta | {"noise": 0.1, "bias": 0.5}),
        "Parity": Call({"n": 6, "subset": (0, 2), "sign": 1, "noise": 0.1, "bias": 0.5}),
        "ParityTree": Call({"n": 6, "leaves": (0, 2, 3, 5)}),
        "Rate": Call({"successes": 2, "runs": 5}),
        "Risk": Call({"value": 0.5, "error": 0.0, "route": "series", "kind": "exact"}),
        "Runs": Call(numbers | {"learner": learner, "data": rows, "key": 0}),
        "Trained": Call(numbers),
        "Descent": Call({"model": heads, "loss": "hinge", "eta": 0.1, "steps": 2, "batch": 4}),
        "Trial": Call({"effort": pl.Effort("quick"), "seed": 0}),
        "Verdict": Call({"row": {"id": "x"}}),
        "Claim": Call(
            {"id": "x", "source": pl.OURS, "title": "t", "statement": "s", "measure": len}
        ),
        "claim": Call({"id": "x", "title": "t", "statement": "s", "seconds": (1, 2, 3)}),
        "Judged": Call({"status": pl.Status("holds"), "finding": "f", "margin": 1.0}),
        "HG1": Call({"place": "Theorem 1"}),
        "HG2": Call({"place": "Theorem 1"}),
        "KS": Call({"place": "Theorem 1"}),
        "Effort": Call({"value": "quick"}),
        "Evidence": Call({"value": "exact"}),
        "Status": Call({"value": "holds"}),
        "all_bits": Call({"n": 4, "chunk": 8}, lambda value: next(iter(value))),
        "as_bits": Call({"values": [0, 1]}),
        "bits_from_signs": Call({"signs": [1, -1]}),
        "signs_from_bits": Call({"bits": [0, 1]}),
        "batches": Call(
            {"problem": parity, "key": 0, "samples": 8, "batch_size": 4},
            lambda value: next(iter(value)),
        ),
        "sample": Call({"problem": parity, "key": 0, "size": 5}),
        "check": Call({"claims": [], "effort": "quick", "seed": 0, "jobs": 1}, _taken),
        "claims_from_file": Call({"path": "mine.py"}),
        "concatenate_runs": Call({"parts": [runs, runs]}),
        "contradicting_rows": Call(search),
        "solution_spaces": Call(search),
        "solve": Call(search | {"k": 2, "method": "auto", "alpha": 0.01, "budget": 1.0, "key": 0}),
        "corrected": Call({"text": "a", "instead": "b", "margin": 1.0}),
        "refuted": Call({"text": "a", "instead": "b", "margin": 1.0}),
        "holds": Call({"text": "a", "margin": 1.0}),
        "undecided": Call({"text": "a", "margin": 1.0}),
        "derived": Call({"label": "a", "by": ""}),
        "drawn": Call({"label": "a", "by": ""}),
        "shown": Call({"label": "a", "by": ""}),
        "detectable_noise": Call({"n": 20, "k": 3, "rows": 500, "alpha": 0.01, "power": 0.9}),
        "rows_needed": Call({"n": 20, "k": 3, "noise": 0.1, "alpha": 0.01, "power": 0.9}),
        "discover": Call({"table": bits, "target": labels, "k": 2, "alpha": 0.01, "budget": 1.0}),
        "ParityClassifier": Call(
            {"k": 2, "method": "auto", "alpha": 0.01, "budget": 1.0},
            lambda value: value.fit(bits, labels).predict(bits),
        ),
        "enumerated_gradient": Call(model),
        "enumerated_risk": Call(model),
        "sampled_gradient": Call(model | {"samples": 100, "key": 0}),
        "sampled_risk": Call(model | {"samples": 100, "key": 0}),
        "model_gradient": Call({name: exact[name] for name in _GRADIENT} | {"model": heads}),
        "population_gradient": Call(exact | {"attention": attention}),
        "population_risk": Call(exact | {"attention": attention}),
        "population_risks": Call(
            {
                "models": 2 * attention,
                "problems": [parity, parity],
                "readout": "zigzag",
                "loss": "hinge",
            }
        ),
        "learn": Call({"learner": learner, "data": population, "runs": 2, "key": 0}),
        "parity_network": Call({"problem": parity}),
        "parity_transformer": Call({"problem": parity, "tau": 1.0, "b": 0.1}),
        "random_junta": Call({"key": 0, "n": 6, "k": 2, "noise": 0.1, "bias": 0.5}),
        "random_parities": Call({"n": 6, "k": 2, "runs": 2, "key": 0, "first": 0, "noise": 0.1}),
        "random_parity": Call({"key": 0, "n": 6, "k": 2, "noise": 0.1, "sign": 1, "bias": 0.5}),
        "random_tree": Call({"key": 0, "n": 6, "k": 4}),
        "random_trees": Call({"n": 6, "k": 4, "runs": 2, "key": 0, "first": 0}),
        "record": Call({"evidence": "exact"}),
        "register_learner": Call({"name": "fuzzed"}),
        "streamed_step": Call({"n": 8, "width": 16, "gains": [1.0, 2.0], "pairs": 3, "seed": 0}),
        "teacher_gradient": Call({"tree": tree, "key": 0, "samples": 16, "batch": 8}),
        "wide_step": Call({"tree": tree, "key": 0, "samples": 16, "columns": 8, "rows": 32}),
        "write_report": Call({"rows": [], "folder": "page"}),
        "Loss": Call({"name": "mine", "pointwise": lambda y, z: (y - z) ** 2}),
    }


_RUNS = ("numbers", "subset", "risk", "error", "kind", "loss", "solved")
_NETWORK = ("hidden", "thresholds", "output", "offset", "edges")
_HEADS = ("directions", "code", "k", "readout", "tau")
_GRADIENT = ("problem", "loss", "tolerance", "route")


def _taken(value: Any) -> Any:
    return list(value)

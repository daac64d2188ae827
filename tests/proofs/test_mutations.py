"""Hostile certificates: every kind of change is tried at every number, and none is believed.

A change is refused if `load_certificate` says in one line why it is no certificate of this claim,
or if an inequality is not shown. What is hostile is written down here a second time, by the nature
of each number (a bit, a position, a norm), not read from the statements. A change that keeps a
number's nature is not hostile: if it verifies, it is another witness of the same claim, as a head
at a slightly different angle is.
"""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("flint")

from paritylab.proofs import expected_seconds, load_certificate, provable, verify
from paritylab.proofs.checker import CERTIFICATES

#: What replaces each number and each list of a witness.
REPLACED = [[], {}, "seven", None, True, 0.25, float("nan"), 10**200, "9" * 500, "1/0", -(10**60)]

#: Numbers that cannot be what the witness says they are, by nature.
IMPOSSIBLE: dict[str, list[Any]] = {
    "bit": [7, "1/2", -1, 2],
    "position": [-1, "1/2", 10**4],
    "norm": [0, -1, "-10"],
    "count": [-3, "1/2", 10**9, 0],
    "share": [-1, 2, "-1/1000"],
    "sum": [-5, "17/5"],
    "height": [-1, "-1/100", 17],
    "real": [],
}
NATURE = {
    "hg1-attention-bounds": {"angle": "share"},
    "hg1-lemma14-sign": {"head": "real", "position": "position", "z": "real", "b": "norm"},
    "hg1-lemma17": {"angles": "real", "inputs": "bit", "head": "position"},
    "hg1-lemma18": {"places": "position", "input": "bit", "s": "sum"},
    "hg1-lemma19": {"places": "position"},
    "hg1-lemma6-smooth": {"heads": "real", "input": "bit", "entry": "position"},
    "hg1-lemma8-pl": {"centre": "real", "radius": "norm", "mu": "norm", "between": "real"},
    "hg1-marginals": {"blind": "real"},
    "hg1-misprints": {"heads": "real", "s": "sum", "input": "bit"},
    "hg1-prop21": {"angle": "real"},
    "hg1-remark12": {"slope": "norm", "scales": "norm"},
    "hg1-start-risk": {"arcs": "count"},
    "hg1-temperature": {"n0": "count"},
    "hg1-thm11": {"slope": "norm", "scale": "norm"},
    "hg1-thm5": {"far": "norm", "depth": "count", "heights": "height"},
    "ks-lemma8": {"radius": "position"},
    "ks-prop3-variance": {"weights": "real"},
    "ks-thm1": {"pairs": "position"},
    "ks-thm7": {"small": "norm", "epsilons": "norm"},
    "lab-few-heads": {"share": "share"},
    "lab-counting-transformer": {"sharpness": "norm"},
}


def raw(id: str) -> dict[str, Any]:
    return json.loads((CERTIFICATES / f"{id}.json").read_text())


def places(value: Any, at: tuple = ()) -> Iterator[tuple[tuple, Any]]:
    """The ways to lists and numbers in nested lists and objects, with what is there; of a list's
    entries the first and the last."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from places(each, (*at, name))
        return
    yield at, value
    if isinstance(value, list):
        yield from places(value[0], (*at, 0))
        yield from places(value[-1], (*at, len(value) - 1))


def put(certificate: dict[str, Any], way: tuple, value: Any) -> dict[str, Any]:
    changed = inner = copy.deepcopy(certificate)
    for step in way[:-1]:
        inner = inner[step]
    inner[way[-1]] = value
    return changed


def changes(id: str) -> Iterator[tuple[str, str]]:
    """Every number of the setting moved, every kind of replacement in the witness, lists one longer
    and one shorter, another claim's name and content; each as text."""
    good, other = raw(id), "ks-thm7" if id != "ks-thm7" else "ks-thm1"
    yield "another claim's name", json.dumps({**good, "claim": other})
    yield "another claim's content", json.dumps({**raw(other), "claim": id})
    yield "one witness more", json.dumps({**good, "witness": {**good["witness"], "more": 1}})
    for way, value in places(good["setting"]):
        moved = [*value, 1] if isinstance(value, list) else f"{value}1"
        yield f"setting {way}", json.dumps(put(good, ("setting", *way), moved))
    for way, value in places(good["witness"]):
        is_list = isinstance(value, list)
        kinds = [[*value, value[-1]], value[:-1]] if is_list else IMPOSSIBLE[NATURE[id][way[0]]]
        for new in [*REPLACED, *kinds]:
            yield f"{way}: {str(new)[:40]}", json.dumps(put(good, ("witness", *way), new))


def believed(id: str, text: str, path) -> bool:
    """Whether a changed file is accepted and verifies; anything but a clear answer raises."""
    path.write_text(text)
    try:
        held, said = load_certificate(path), ""
    except ValueError as error:
        held, said = {}, str(error)
    assert "\n" not in said
    if said:
        return False
    if held["claim"] != id:
        with pytest.raises(ValueError, match="not of"):
            verify(id, held)
        return False
    assert expected_seconds(id) <= 1, "a long proof must not even begin"
    return verify(id, held).verified


@pytest.mark.parametrize("id", provable())
def test_no_hostile_change_is_believed(id, tmp_path):
    path = tmp_path / "changed.json"
    assert not [name for name, text in changes(id) if believed(id, text, path)]


def test_there_are_many_changes_and_every_witness_has_a_nature():
    assert sum(len(list(changes(id))) for id in provable()) >= 1000
    named = {id: set(raw(id)["witness"]) for id in provable() if raw(id)["witness"]}
    assert named == {id: set(natures) for id, natures in NATURE.items()}


def test_a_certificate_from_memory_is_checked_like_a_file():
    held = load_certificate(CERTIFICATES / "hg1-lemma18.json")
    for changed in (
        {},
        {**held, "setting": {**held["setting"], "b": 0}},
        {**held, "witness": {**held["witness"], "s": 0.25}},
        {**held, "witness": {**held["witness"], "input": [7, *[0] * 7]}},
        {**held, "claim": "hg1-lemma19"},
    ):
        with pytest.raises(ValueError, match=r"claim|statement|must be|expected|not of"):
            verify("hg1-lemma18", changed)

"""Hostile certificates: every kind of change is tried on every certificate, and none is believed.

A change is refused if `load_certificate` or `verify` says in one line why it is no certificate of
this claim, or if an inequality is not shown. What is hostile is written down here a second time,
by the nature of each number (a bit, a position, a norm), not read from the statements. A change
that keeps a number's nature is not hostile: if it verifies, it is another witness of the same claim
in the same setting, as a head at a slightly different angle is.
"""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("flint")

from paritylab.proofs import expected_seconds, load_certificate, provable, verify
from paritylab.proofs.checker import CERTIFICATES

#: Entries of the witness that are replaced, by what.
REPLACED: dict[str, Any] = {
    "a list": [],
    "an object": {},
    "a word": "seven",
    "nothing": None,
    "a truth value": True,
    "a float": 0.25,
    "not a number": float("nan"),
    "an underflow": "0x1.8p-9999",
    "an overflow": "0x1.8p+9999",
    "a huge number": 10**200,
    "a number of 500 digits": "9" * 500,
    "division by zero": "1/0",
    "minus the huge": -(10**60),
}

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
    "hg1-lemma8-pl": {
        "centre": "real",
        "radius": "norm",
        "mu": "norm",
        "between": "real",
    },
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


def places(value: Any, at: tuple = ()) -> Iterator[tuple]:
    """The ways to every number in nested lists and objects, and to the lists."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from places(each, (*at, name))
    elif isinstance(value, list):
        yield at
        yield from places(value[0], (*at, 0))
        yield from places(value[-1], (*at, len(value) - 1))
    else:
        yield at


def put(certificate: dict[str, Any], way: tuple, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(certificate)
    inner = changed
    for step in way[:-1]:
        inner = inner[step]
    inner[way[-1]] = value
    return changed


def get(certificate: dict[str, Any], way: tuple) -> Any:
    for step in way:
        certificate = certificate[step]
    return certificate


def whole_changes(id: str) -> Iterator[tuple[str, str]]:
    """Changes of a file as a whole, as text."""
    good = raw(id)
    other = "ks-thm7" if id != "ks-thm7" else "ks-thm1"
    text = json.dumps(good)
    yield "empty", "{}"
    yield "nothing", ""
    yield "a list", "[]"
    yield "without a setting", json.dumps({"claim": id, "witness": good["witness"]})
    yield "without a witness", json.dumps({"claim": id, "setting": good["setting"]})
    yield "an empty setting", json.dumps({**good, "setting": {}})
    yield "a witness that is a number", json.dumps({**good, "witness": 1})
    yield "one key more", json.dumps({**good, "verified": 1})
    yield "one witness more", json.dumps({**good, "witness": {**good["witness"], "more": 1}})
    yield "another claim's name", json.dumps({**good, "claim": other})
    yield "another claim's content", json.dumps({**raw(other), "claim": id})
    yield "a claim that is a list", json.dumps({**good, "claim": [id]})
    yield "the claim twice", text.replace("{", f'{{"claim": "{other}", ', 1)
    yield "the setting twice", text[:-1] + ', "setting": {}}'
    if good["witness"]:
        name = next(iter(good["witness"]))
        yield "one witness less", json.dumps(put(good, ("witness",), {}))
        yield (
            "one witness twice",
            text.replace('"witness": {', f'"witness": {{"{name}": 0, ', 1),
        )


def setting_changes(id: str) -> Iterator[tuple[str, str]]:
    """Every number of the setting moved by one."""
    good = raw(id)
    for way in places(good["setting"]):
        value = get(good["setting"], way)
        moved = [*value, 1] if isinstance(value, list) else f"{value}1"
        yield f"setting {way}", json.dumps(put(good, ("setting", *way), moved))


def witness_changes(id: str) -> Iterator[tuple[str, str]]:
    """Every kind of replacement at every place; lists one longer and one shorter."""
    good = raw(id)
    for way in places(good["witness"]):
        value, where = get(good["witness"], way), "/".join(map(str, way))
        kinds = dict(REPLACED)
        if isinstance(value, list):
            kinds |= {"one longer": [*value, value[-1]], "one shorter": value[:-1]}
        else:
            kinds |= {str(each): each for each in IMPOSSIBLE[NATURE[id][way[0]]]}
        for name, put_in in kinds.items():
            yield f"{where}: {name}", json.dumps(put(good, ("witness", *way), put_in))


def believed(id: str, text: str, path) -> bool:
    """Whether a changed file is accepted and verifies; anything but a clear answer raises."""
    path.write_text(text)
    try:
        held = load_certificate(path)
    except ValueError as error:
        said = str(error)
    else:
        said = ""
    if said:
        assert "\n" not in said
        return False
    if held["claim"] != id:
        with pytest.raises(ValueError, match="not of"):
            verify(id, held)
        return False
    assert expected_seconds(id) <= 1, "a long proof must not even begin"
    return verify(id, held).verified


def changes(id: str) -> Iterator[tuple[str, str]]:
    yield from whole_changes(id)
    yield from setting_changes(id)
    yield from witness_changes(id)


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
        {**held, "witness": {**held["witness"], "s": -5}},
        {**held, "witness": {**held["witness"], "s": 0.25}},
        {**held, "witness": {**held["witness"], "input": [7, *[0] * 7]}},
        {**held, "claim": "hg1-lemma19"},
    ):
        with pytest.raises(ValueError, match=r"claim|statement|must be|expected|not of"):
            verify("hg1-lemma18", changed)

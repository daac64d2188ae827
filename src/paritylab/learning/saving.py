"""Saved runs: one .npz with a JSON header; nothing is pickled, nothing in it is executed."""

import io
import json
import zipfile
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from jaxtyping import PyTree

from paritylab._support.output_files import write_atomically
from paritylab._support.safe_io import check_archive, parse_json, read_bytes
from paritylab.learning.contract import LEARNERS, Learner, learner_name
from paritylab.learning.data import Fresh, Population, Rows, Sample
from paritylab.problem import Corruption, Junta, Parity, ParityTree

FORMAT = 4
#: Bytes of a file of runs that is opened.
LARGEST_FILE = 1 << 31
#: What a file may hold besides arrays and plain values, by the name of its class.
KNOWN: dict[str, Any] = {
    each.__name__: each
    for each in (Population, Sample, Fresh, Rows, Parity, Junta, ParityTree, Corruption)
}

Facts = dict[str, Any]
_C = TypeVar("_C", bound=type)


def savable(part: _C) -> _C:
    """Let files of runs hold objects of this frozen dataclass, a part of a learner's settings."""
    KNOWN[part.__name__] = part
    return part


def write_tree(path: str | Path, tree: PyTree) -> Path:
    """Write a tree (dicts, tuples) of arrays, plain values, data and targets to one file."""
    arrays: dict[str, np.ndarray] = {}
    header = {"format": FORMAT, "tree": _skeleton(tree, "", arrays)}
    arrays["header"] = np.array(json.dumps(header))
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return write_atomically(Path(path), buffer.getvalue())


def read_tree(path: str | Path) -> PyTree:
    """The tree of a file written by `write_tree`."""
    if not Path(path).exists():
        raise ValueError(f"no file {path}")
    try:
        # Read whole, so that a broken file is closed before numpy complains about it.
        content = io.BytesIO(read_bytes(path, LARGEST_FILE, begins=b"PK"))
        with zipfile.ZipFile(content) as archive:
            check_archive(archive)
        with np.load(content, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        header = parse_json(str(arrays.pop("header")))
        if header["format"] != FORMAT:
            raise ValueError(f"its format is {header['format']}, this version reads {FORMAT}")
        return _filled(header["tree"], arrays)
    except Exception as error:  # a malformed archive can raise nearly anything
        raise ValueError(f"{path} does not hold saved runs: {error}") from None


def learner_facts(learner: object) -> Facts:
    """Name and plain fields; fields of one's own are only named, and must be given on loading."""
    name = learner_name(learner)
    if not is_dataclass(learner):
        return {"name": name, "fields": {}, "own": ["settings"]}
    values = {each.name: getattr(learner, each.name) for each in fields(learner)}
    known = tuple(KNOWN.values())
    plain = {n: value for n, value in values.items() if _is_plain(value) or type(value) in known}
    return {"name": name, "fields": plain, "own": sorted(set(values) - set(plain))}


def learner_from(facts: Facts) -> Learner[Any, Any]:
    """The learner of `learner_facts`, if nothing of one's own was in it."""
    if facts["own"] or facts["name"] not in LEARNERS:
        parts = f" with its own {', '.join(facts['own'])}" if facts["own"] else ""
        raise ValueError(
            f"these runs were trained by {facts['name']}{parts}; "
            "pass the same learner: Runs.load(path, learner=…)"
        )
    try:
        built: Learner[Any, Any] = LEARNERS[facts["name"]](**facts["fields"])
    except (TypeError, ValueError) as error:
        raise ValueError(f"a setting of these runs is not known here: {error}") from None
    return built


def _is_plain(value: object) -> bool:
    """Whether JSON keeps a value; its lists come back as tuples."""
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(part) for key, part in value.items())
    return value is None or isinstance(value, bool | int | float | str)


def _skeleton(tree: PyTree, name: str, arrays: dict[str, np.ndarray]) -> Facts:
    """The tree as JSON, every array replaced by the name under which it is stored."""
    if _is_plain(tree):
        return {"value": tree}
    if type(tree) in KNOWN.values():
        parts = {each.name: getattr(tree, each.name) for each in fields(tree)}
        return {type(tree).__name__: _skeleton(parts, name, arrays)}
    if isinstance(tree, dict):
        return {"dict": {key: _skeleton(v, f"{name}/{key}", arrays) for key, v in tree.items()}}
    if isinstance(tree, list | tuple):
        return {"tuple": [_skeleton(p, f"{name}/{at}", arrays) for at, p in enumerate(tree)]}
    array = np.asarray(tree)
    if array.dtype == object:
        raise ValueError(f"{name.strip('/')} must be an array of numbers or text to be saved")
    arrays[name] = array
    return {"array": name}


def _filled(skeleton: Facts, arrays: dict[str, np.ndarray]) -> PyTree:
    """The tree of a skeleton, with the stored arrays in their places."""
    ((kind, content),) = skeleton.items()
    if kind in KNOWN:
        return KNOWN[kind](**_filled(content, arrays))
    if kind == "dict":
        return {key: _filled(part, arrays) for key, part in content.items()}
    if kind == "tuple":
        return tuple(_filled(part, arrays) for part in content)
    return _with_tuples(content) if kind == "value" else arrays[content]


def _with_tuples(value: PyTree) -> PyTree:
    """Lists, as JSON gives them back, as the tuples they were."""
    if isinstance(value, dict):
        return {name: _with_tuples(part) for name, part in value.items()}
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value

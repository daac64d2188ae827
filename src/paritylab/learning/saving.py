"""Arrays on disk: one .npz with a JSON header; nothing is pickled, nothing in it is executed."""

import io
import json
import tokenize
import zipfile
import zlib
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import PyTree

from paritylab.files import write_atomically
from paritylab.learning.contract import LEARNERS, Learner, learner_name
from paritylab.learning.data import with_tuples
from paritylab.untrusted import check_archive, parse_json, read_bytes

#: Format 3 is that of 0.3.0, whose settings and numbers differ.
FORMAT = 4
#: Bytes of a file of runs that is opened.
LARGEST_FILE = 1 << 31
#: What a malformed archive can raise.
UNREADABLE = (
    *(OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError, SyntaxError),
    *(NotImplementedError, RuntimeError, OverflowError, MemoryError, RecursionError),
    *(zipfile.BadZipFile, zlib.error, tokenize.TokenError),
)

Facts = dict[str, Any]


def write_arrays(path: str | Path, facts: Facts, tree: PyTree) -> Path:
    """Write plain facts and a tree (dicts, tuples) of arrays and plain values to one file."""
    arrays: dict[str, np.ndarray] = {}
    header = {"format": FORMAT, "facts": facts, "tree": _skeleton(tree, "", arrays)}
    arrays["header"] = np.array(json.dumps(header))
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return write_atomically(Path(path), buffer.getvalue())


def read_arrays(path: str | Path) -> tuple[Facts, PyTree]:
    """Facts and tree of a file written by `write_arrays`."""
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
            raise ValueError(
                f"it has format {header['format']}, this version reads {FORMAT}; load it with the "
                "paritylab that wrote it (0.3.0 for format 3), or train the runs again"
            )
        return header["facts"], _filled(header["tree"], arrays)
    except UNREADABLE as error:
        raise ValueError(f"{path} does not hold saved runs: {error}") from None


def learner_facts(learner: Learner[Any, Any]) -> Facts:
    """Name and plain fields; fields of one's own are only named, and must be given on loading."""
    name = learner_name(learner)
    if not is_dataclass(learner):
        return {"name": name, "fields": {}, "own": ["settings"]}
    values = {each.name: getattr(learner, each.name) for each in fields(learner)}
    plain = {name: value for name, value in values.items() if _is_plain(value)}
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
        built: Learner[Any, Any] = LEARNERS[facts["name"]](**with_tuples(facts["fields"]))
    except (TypeError, ValueError) as error:
        raise ValueError(f"a setting of these runs is not known here: {error}") from None
    return built


def _is_plain(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_plain(part) for part in value)
    return value is None or isinstance(value, bool | int | float | str)


def _skeleton(tree: PyTree, name: str, arrays: dict[str, np.ndarray]) -> dict[str, object]:
    """The tree as JSON, every array replaced by the name under which it is stored."""
    if isinstance(tree, dict):
        parts = {str(key): _skeleton(part, f"{name}/{key}", arrays) for key, part in tree.items()}
        return {"dict": parts}
    if isinstance(tree, list | tuple):
        return {"tuple": [_skeleton(p, f"{name}/{at}", arrays) for at, p in enumerate(tree)]}
    if tree is None or isinstance(tree, bool | int | float | str):
        return {"value": tree}
    array = np.asarray(tree)
    if array.dtype == object:
        raise ValueError(f"{name.strip('/')} must be an array of numbers or text to be saved")
    arrays[name] = array
    return {"array": name}


def _filled(skeleton: Facts, arrays: dict[str, np.ndarray]) -> PyTree:
    """The tree of a skeleton, with the stored arrays in their places."""
    ((kind, content),) = skeleton.items()
    if kind == "dict":
        return {key: _filled(part, arrays) for key, part in content.items()}
    if kind == "tuple":
        return tuple(_filled(part, arrays) for part in content)
    return content if kind == "value" else arrays[content]

"""Arrays on disk: one .npz with a JSON header; nothing is pickled, nothing in it is executed."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from paritylab.files import write_atomically

FORMAT = 2


def write_arrays(path: str | Path, facts: dict[str, Any], tree: Any) -> Path:
    """Write plain facts and a tree (dicts, tuples) of arrays and plain values to one file."""
    arrays: dict[str, np.ndarray] = {}
    header = {"format": FORMAT, "facts": facts, "tree": _skeleton(tree, "", arrays)}
    arrays["header"] = np.array(json.dumps(header))
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)  # type: ignore[arg-type]
    return write_atomically(Path(path), buffer.getvalue())


def read_arrays(path: str | Path) -> tuple[dict[str, Any], Any]:
    """Facts and tree of a file written by `write_arrays`."""
    try:
        # Read whole, so that a broken file is closed before numpy complains about it.
        content = io.BytesIO(Path(path).read_bytes())
        with np.load(content, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        header = json.loads(str(arrays.pop("header")))
        if header["format"] != FORMAT:
            raise ValueError(f"format {header['format']}, this version reads {FORMAT}")
        return header["facts"], _filled(header["tree"], arrays)
    except FileNotFoundError:
        raise ValueError(f"no file {path}") from None
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} does not hold saved runs: {error}") from None


def _skeleton(tree: Any, name: str, arrays: dict[str, np.ndarray]) -> Any:
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


def _filled(skeleton: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    ((kind, content),) = skeleton.items()
    if kind == "dict":
        return {key: _filled(part, arrays) for key, part in content.items()}
    if kind == "tuple":
        return tuple(_filled(part, arrays) for part in content)
    return content if kind == "value" else arrays[content]

"""Run the notebooks of examples/ and keep what their cells print. Called by `make docs`."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent.parent / "examples"


def executed(path: Path) -> dict[str, Any]:
    """The notebook with the output of every code cell, run in order in one namespace."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    number = 0
    for cell in notebook["cells"]:
        if not runs(cell):
            continue
        number += 1
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile("".join(cell["source"]), f"{path.name}[{number}]", "exec"), names)
        text = printed.getvalue().splitlines(keepends=True)
        cell["execution_count"] = number
        cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": text}]
    return notebook


def runs(cell: dict[str, Any]) -> bool:
    """Whether a cell is code of ours; the one that installs is for a notebook elsewhere."""
    return cell["cell_type"] == "code" and not "".join(cell["source"]).startswith("%")


def printed(notebook: dict[str, Any]) -> list[str]:
    """What each code cell printed."""
    cells = filter(runs, notebook["cells"])
    return ["".join(text for out in cell["outputs"] for text in out["text"]) for cell in cells]


def main() -> None:
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        text = json.dumps(executed(path), indent=1, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")
        print(f"{path.name}: run")


if __name__ == "__main__":
    main()

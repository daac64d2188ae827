"""Builds the live page: one HTML file from small modules, styles and the verdicts on record."""

import ast
import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

from markupsafe import Markup

from paritylab import __version__, proofs
from paritylab._support.output_files import write_atomically
from paritylab.claims.engine.recorded import recorded
from paritylab.claims.engine.verdict import Effort
from paritylab.report.page import filled

FOLDER = Path(__file__).resolve().parent
#: The claims whose verdicts each demo shows.
SHOWN = {
    "heads": ("hg1-thm5", "lab-fixed-tau", "lab-heads-learn", "hg1-temperature", "hg1-adjacency"),
    "xor": ("hg2-one-step", "hg2-softmax-needed", "lab-xor-balanced"),
    "chain": ("ks-thm5", "lab-chain-samples", "ks-thm7"),
}
#: The certificates behind "stuck for ever".
PROVED = ("hg1-lemma8-pl", "hg1-thm5")
#: The string of the first picture.
BITS = "01101000101011010010"

_IMPORT = re.compile(r'^import (?P<names>\{[^}]*\}) from "(?P<path>[^"]+)";\n', re.M)
_EXPORT = re.compile(r"^export (?P<kind>const|function|async function) (?P<name>\w+)", re.M)


def write_live_page(out: str | Path, run: dict[str, Any] | None = None) -> Path:
    """Write the page to a file and return its path. run: a run to replay, see `live.runs`."""
    return write_atomically(Path(out), live_page(run))


def live_page(run: dict[str, Any] | None = None, link: str = "") -> str:
    """The whole page as text: no other file, no request.

    link: where claims have a page, an address with {} for the claim's id.

    >>> page = live_page()
    >>> len(page.encode()) < 300_000, "import " in page.split("<script")[-1][:200]
    (True, False)
    """
    return _filled(
        "page.html.j2",
        run=None if run is None else Markup(_embedded(run)),
        claims=recorded(),
        link=link,
        bits=BITS,
        counted=_number(FOLDER / "engine" / "risk.js", "COUNTED"),
        version=__version__,
        proved=PROVED,
        title=_title,
        verdict=_verdict,
        dots=_number(FOLDER / "view" / "landscape.js", "DOTS"),
        **SHOWN,
    )


def landscape_page() -> str:
    """The landscape alone, to be shown inside another page."""
    return _filled("hero.html.j2")


def _filled(template: str, **given: Any) -> str:
    """A template with script, style and the heights of the traps."""
    script, style = bundle(FOLDER / "view" / "main.js"), (FOLDER / "page.css").read_text("utf-8")
    heights = Markup(_embedded(_heights()))
    return filled(FOLDER, template, script, style, heights=heights, **given)


def modules_of(main: Path) -> list[Path]:
    """The module and all it imports, each after those it needs."""
    found: list[Path] = []

    def visit(path: Path) -> None:
        for match in _IMPORT.finditer(path.read_text("utf-8")):
            needed = (path.parent / match["path"]).resolve()
            if needed not in found:
                visit(needed)
        if path not in found:
            found.append(path)

    visit(main.resolve())
    return found


def bundle(main: Path) -> str:
    """All modules as one script: each is a function that returns what it exports."""
    paths = modules_of(main)
    engine = ", ".join(_name(path) for path in paths if path.parent.name == "engine")
    script = "".join(map(_as_function, paths))
    script += f"\n// The engine, for the console.\nglobalThis.paritylab = {{ {engine} }};\n"
    if "</script" in script.lower():
        raise ValueError("a module holds </script, which would end the page's script")
    return script


def _as_function(path: Path) -> str:
    text = path.read_text("utf-8")

    def bring(match: re.Match[str]) -> str:
        return f"const {match['names']} = {_name((path.parent / match['path']).resolve())};\n"

    offered = ", ".join(match["name"] for match in _EXPORT.finditer(text))
    body = _EXPORT.sub(r"\g<kind> \g<name>", _IMPORT.sub(bring, text)).strip()
    opening = f"\n// ---- {path.relative_to(FOLDER).as_posix()}\nconst {_name(path)} = (() => {{\n"
    return f"{opening}{body}\nreturn {{ {offered} }};\n}})();\n"


def _name(path: Path) -> str:
    """A module's name in the script: engine/heads.js is engine_heads."""
    return "_".join(path.relative_to(FOLDER).with_suffix("").parts)


def _embedded(run: Any) -> str:
    """JSON that cannot end the element that holds it."""
    return json.dumps(run, allow_nan=False).replace("<", "\\u003c")


def _title(id: str) -> str:
    """What a certificate proves, from its statement's text: importing it needs python-flint."""
    file = Path(proofs.__file__).parent / "statements" / f"{id.replace('-', '_')}.py"
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TITLE":
            return str(ast.literal_eval(node.value))
    raise ValueError(f"the statement of {id} has no TITLE")


def _heights() -> list[list[float]]:
    """Heights of the cells in the certificate of hg1-thm5: below them descent is trapped."""
    file = Path(proofs.__file__).parent / "certificates" / "hg1-thm5.json"
    witness = json.loads(file.read_text("utf-8"))["witness"]
    return [[float(Fraction(height)) for height in row] for row in witness["heights"]]


def _verdict(id: str) -> str:
    """The verdict on record at default effort."""
    return str(recorded()[id].expected_at(Effort.DEFAULT) or "undecided")


def _number(path: Path, name: str) -> int:
    match = re.search(rf"^export const {name} = (\d+);", path.read_text("utf-8"), re.M)
    assert match is not None, f"{path.name} has no number {name}"
    return int(match[1])

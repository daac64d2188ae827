"""The same certificates for a second prover: one Rocq (Coq) file each, from the same JSON.

Rocq with CoqInterval shares nothing with python-flint: its kernel checks a proof term, and the
arithmetic behind `interval` is proved correct inside Rocq, with whole numbers only (a precision is
given everywhere, so that no primitive floating point is used). `Model.v` holds the definitions of
the paper; the files in templates/ state a theorem in these words and prove it, with the numbers of
a certificate filled in. Each ends with a theorem `shown` that says all of it. What a certificate
needs many thousand boxes for (hg1-thm5, hg1-start-risk, hg1-lemma8-pl) or a linear system of 128
unknowns (hg1-thm11, hg1-remark12) is not written for Rocq.
"""

from fractions import Fraction
from pathlib import Path
from typing import Any

from flint import arb, fmpq
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from paritylab.proofs.checker import CERTIFICATES, load_certificate
from paritylab.proofs.kernel import Heads

HERE = Path(__file__).parent
#: How the files are checked, in one line.
HOW = "make coq checks them (Debian: apt-get install coq libcoq-interval)"
#: The claims that have a template.
IDS = (
    *("hg1-floor", "hg1-lemma14-sign", "hg1-lemma17", "hg1-lemma18", "hg1-lemma19"),
    *("hg1-marginals", "hg1-prop21", "hg1-temperature"),
    *("ks-lemma8", "ks-prop3-variance", "ks-thm1", "ks-thm7"),
)


def sources() -> dict[str, str]:
    """The text of every file, by name: Model.v, one file a certificate, and All.v.

    All.v collects every theorem in one and prints the axioms that they rest on.
    """
    templates = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    templates.globals |= {"real": real, "rational": rational, "ones": ones, "listed": listed}
    templates.filters["rational"] = rational
    files = {"Model.v": (HERE / "Model.v").read_text(encoding="utf-8")}
    for id in IDS:
        held = load_certificate(CERTIFICATES / f"{id}.json")
        if id == "hg1-lemma17":
            held |= _enclosures(held["setting"], held["witness"])
        name = "".join(part.capitalize() for part in id.split("-"))
        files[f"{name}.v"] = templates.get_template(f"{name}.v").render(id=id, **held)
    names = [Path(name).stem for name in files if name != "Model.v"]
    lines = ["(* Every theorem of this folder, and the axioms behind all of them together. *)"]
    lines += [f"From Paritylab Require {name}." for name in names]
    pairs = ",\n  ".join(f"{name}.shown" for name in names)
    lines += [f"Definition all :=\n  ({pairs}).", "Print Assumptions all.", ""]
    files["All.v"] = "\n".join(lines)
    return files


def write(folder: Path) -> list[Path]:
    """Write all files into a folder; those that are there are replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, text in sources().items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        made.append(path)
    return made


def _enclosures(setting: dict[str, Any], witness: dict[str, Any]) -> dict[str, list[str]]:
    """Lemma 17: both inputs with their labels, and decimals around each term of the gradients.

    The decimals come from python-flint. Rocq proves each enclosure itself, so they are hints that
    nothing trusts.
    """
    n, tau, at = setting["n"], real(setting["tau"]), 2 * witness["head"]
    scale = arb(_flint(setting["tau"]))
    model = Heads([arb.sin_cos_pi_fmpq(_flint(t)) for t in witness["angles"]], n, scale)
    rows, hints, inputs = model.moments(), [], []
    for x in witness["inputs"]:
        inputs.append(f"{ones(x)} {(-1) ** sum(x[i] for i in setting['B'])}".replace("-1", "(-1)"))
        terms = {f"attended {n} {tau} heads {ones(x)}": model.attended(x)}
        for part, slope in zip(("sin", "cos"), model.slope(x, rows)[at : at + 2], strict=True):
            terms[f"moved {n} {tau} head {ones(x)} {part}"] = slope * scale
        for term, ball in terms.items():
            low, high = enclosing(ball)
            hints.append(f"  enclosed ({term}) {low} {high}.")
    return {"inputs": inputs, "hints": hints}


def _flint(value: int | Fraction) -> Any:
    return fmpq(Fraction(value).numerator, Fraction(value).denominator)


def enclosing(ball: Any) -> tuple[str, str]:
    """Two decimals of nine digits around a ball of python-flint, as reals."""
    scale = 10**9
    low = int((ball.lower() * scale).floor().unique_fmpz()) - 1
    high = int((ball.upper() * scale).ceil().unique_fmpz()) + 1
    return real(Fraction(low, scale)), real(Fraction(high, scale))


def real(value: int | Fraction) -> str:
    """A rational as a real number: (3 / 8), (-4 / 5), 2."""
    if isinstance(value, int):
        return str(value) if value >= 0 else f"({value})"
    return f"({value.numerator} / {value.denominator})"


def rational(value: int | Fraction) -> str:
    """The same as a number of type Q."""
    fraction = Fraction(value)
    return f"({fraction.numerator} # {fraction.denominator})"


def ones(bits: list[int]) -> str:
    """A string of bits as the list of positions whose bit is 1."""
    return listed(j for j, bit in enumerate(bits) if bit) + "%nat"


def listed(entries: Any) -> str:
    """A list: [1; 2; 3]."""
    return "[" + "; ".join(str(entry) for entry in entries) + "]"

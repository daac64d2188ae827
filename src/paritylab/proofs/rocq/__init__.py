"""The same certificates for a second prover: one Rocq (Coq) file each, from the same JSON.

Rocq with CoqInterval shares nothing with python-flint: its kernel checks a proof term, and the
arithmetic behind `interval` is proved correct inside Rocq, with whole numbers only (a precision is
given everywhere, so that no primitive floating point is used). `Model.v` holds the definitions of
the paper; the files in templates/ state a theorem in these words and prove it, with the numbers of
a certificate put in for $names. Each ends with a theorem `shown` that says all of it. What a
certificate needs many thousand boxes for (hg1-thm5, hg1-start-risk, hg1-lemma8-pl) or a linear
system of 128 unknowns (hg1-thm11, hg1-remark12) is not written for Rocq.
"""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from string import Template
from typing import Any

from flint import arb, fmpq

from paritylab.proofs.checker import CERTIFICATES, load_certificate
from paritylab.proofs.kernel import Heads

HERE = Path(__file__).parent
#: How the files are checked, in one line.
HOW = "make coq checks them (Debian: apt-get install coq libcoq-interval)"


def sources() -> dict[str, str]:
    """The text of every file, by name: Model.v, one file a certificate, and All.v.

    All.v collects every theorem in one and prints the axioms that they rest on.
    """
    files = {"Model.v": (HERE / "Model.v").read_text(encoding="utf-8")}
    shared = {name: _template(name) for name in ("imports", "choose")}
    for id, derive in DERIVED.items():
        held = load_certificate(CERTIFICATES / f"{id}.json")
        given = held["setting"] | held["witness"]
        plain = {key: real(v) for key, v in given.items() if isinstance(v, int | Fraction)}
        name = "".join(part.capitalize() for part in id.split("-"))
        numbers = {"id": id, **shared, **plain, **derive(given)}
        files[f"{name}.v"] = Template(_template(name)).substitute(numbers)
    names = [Path(name).stem for name in files if name != "Model.v"]
    lines = ["(* Every theorem of this folder, and the axioms behind all of them together. *)"]
    lines += [f"From Paritylab Require {name}." for name in names]
    pairs = ",\n  ".join(f"{name}.shown" for name in names)
    lines += [f"Definition all :=\n  ({pairs}).", "Print Assumptions all.", ""]
    files["All.v"] = "\n".join(lines)
    return files


def _template(name: str) -> str:
    return (HERE / "templates" / f"{name}.v").read_text(encoding="utf-8")


def write(folder: Path) -> list[Path]:
    """Write all files into a folder; those that are there are replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, text in sources().items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        made.append(path)
    return made


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


def _lemma17(given: dict[str, Any]) -> dict[str, Any]:
    """Heads, both inputs with their labels, and decimals around each term of the gradients.

    The decimals come from python-flint. Rocq proves each enclosure itself, so they are hints that
    nothing trusts.
    """
    n, tau, at = given["n"], real(given["tau"]), 2 * given["head"]
    turns = [f"(sin (PI * {real(t)}), cos (PI * {real(t)}))" for t in given["angles"]]
    scale = arb(_flint(given["tau"]))
    model = Heads([arb.sin_cos_pi_fmpq(_flint(t)) for t in given["angles"]], n, scale)
    rows, hints, inputs = model.moments(), [], []
    for x in given["inputs"]:
        label = "1" if sum(x[i] for i in given["B"]) % 2 == 0 else "(-1)"
        inputs.append(f"{ones(x)} {label}")
        terms = {f"attended {n} {tau} heads {ones(x)}": model.attended(x)}
        for part, slope in zip(("sin", "cos"), model.slope(x, rows)[at : at + 2], strict=True):
            terms[f"moved {n} {tau} head {ones(x)} {part}"] = slope * scale
        for term, ball in terms.items():
            low, high = enclosing(ball)
            hints.append(f"  enclosed ({term}) {low} {high}.")
    one, two = inputs
    heads, head = listed(turns), turns[given["head"]]
    return {"heads": heads, "head": head, "one": one, "two": two, "hints": "\n".join(hints)}


def _lemma18(given: dict[str, Any]) -> dict[str, Any]:
    """Heads on their places, and every head with every position within π/4."""
    n, places = given["n"], given["places"]
    near = [
        f"(on {n} {place}, {(place + step) % n}%nat)"
        for place in places
        for step in range(-(n // 8), n // 8 + 1)
    ]
    heads = listed(f"on {n} {place}" for place in places)
    return {"heads": heads, "near": listed(near), "x": ones(given["input"]), "square": n**2}


def _thm7(given: dict[str, Any]) -> dict[str, Any]:
    low, middle, high = (rational(each) for each in given["epsilons"])
    small, alternate = rational(given["small"]), listed(range(2, given["levels"] + 1, 2))
    found = {"low": low, "middle": middle, "high": high, "small": small, "alternate": alternate}
    return found | {"less": given["levels"] - 1}


#: What a template needs beyond the numbers of setting and witness, by claim.
DERIVED: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "hg1-floor": lambda given: {
        "low": real(given["b"][0]),
        "high": real(given["b"][1]),
        "strings": 2 ** given["n"],
    },
    "hg1-lemma14-sign": lambda given: dict(
        zip(("one", "two"), map(real, given["head"]), strict=True)
    ),
    "hg1-lemma17": _lemma17,
    "hg1-lemma18": _lemma18,
    "hg1-lemma19": lambda given: {},
    "hg1-marginals": lambda given: {},
    "hg1-prop21": lambda given: {
        "low": given["B"][0],
        "high": given["B"][1],
        "less": given["n"] - 1,
        "huge": 10**20,
    },
    "hg1-temperature": lambda given: {
        "first": given["from"],
        "count": given["n0"] - given["from"],
        "product": given["n0"] * given["c"],
    },
    "ks-lemma8": lambda given: {
        "first": given["n"] // 2 - given["radius"],
        "count": 2 * given["radius"] + 1,
        "more": given["n"] + 1,
    },
    "ks-prop3-variance": lambda given: {
        "weights": listed(map(rational, given["weights"])),
        "strings": 2 ** given["n"],
    },
    "ks-thm1": lambda given: {
        "n": given["listed"],
        "half": given["listed"] // 2,
        "sizes": listed(given["n"]) + "%nat",
        "pairs": listed(f"({i}, {j})" for i, j in given["pairs"]) + "%nat",
    },
    "ks-thm7": _thm7,
}

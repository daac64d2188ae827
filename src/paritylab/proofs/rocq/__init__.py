"""The same certificates for a second prover: one Rocq (Coq) file each, from the same JSON.

Rocq with CoqInterval shares nothing with python-flint: its kernel checks a proof term, and the
arithmetic behind `interval` is proved correct inside Rocq, with whole numbers only (a precision is
given everywhere, so that no primitive floating point is used). `Model.v` holds the definitions of
the paper; the other files state a theorem in these words and prove it. What a certificate needs
many thousand boxes for (hg1-thm5, hg1-start-risk, hg1-lemma8-pl) or a linear system of 128 unknowns
(hg1-thm11, hg1-remark12) is not written for Rocq.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from paritylab.proofs.checker import CERTIFICATES, load_certificate
from paritylab.proofs.rocq import hg1, ks

HERE = Path(__file__).parent
#: The text of a certificate's theorems and proofs, by claim.
WRITERS: dict[str, Callable[[dict[str, Any], dict[str, Any]], str]] = {
    "hg1-floor": hg1.floor,
    "hg1-lemma14-sign": hg1.lemma14_sign,
    "hg1-lemma17": hg1.lemma17,
    "hg1-lemma18": hg1.lemma18,
    "hg1-lemma19": hg1.lemma19,
    "hg1-marginals": hg1.marginals,
    "hg1-prop21": hg1.prop21,
    "hg1-temperature": hg1.temperature,
    "ks-lemma8": ks.lemma8,
    "ks-prop3-variance": ks.prop3_variance,
    "ks-thm1": ks.thm1,
    "ks-thm7": ks.thm7,
}
#: How the files are checked, in one line.
HOW = "make coq checks them (Debian: apt-get install coq libcoq-interval)"
HEAD = """(* {title}

   Written by `paritylab prove --coq` from {id}.json; change the certificate, not this file. *)
From Coq Require Import Reals List Lra ZArith QArith Lia.
From Coquelicot Require Import Coquelicot.
From Interval Require Import Tactic.
From Paritylab Require Import Model.
Import ListNotations.
"""


def sources() -> dict[str, str]:
    """The text of every file, by name: Model.v, one file a certificate, and All.v.

    All.v collects every theorem in one and prints the axioms that they rest on.
    """
    files = {"Model.v": (HERE / "Model.v").read_text(encoding="utf-8")}
    for id, write in WRITERS.items():
        held = load_certificate(CERTIFICATES / f"{id}.json")
        text = write(held["setting"], held["witness"])
        files[f"{module_name(id)}.v"] = HEAD.format(title=_title(text), id=id) + _body(text)
    names = [Path(name).stem for name in files if name != "Model.v"]
    lines = ["(* Every theorem of this folder, and the axioms behind all of them together. *)"]
    lines += [f"From Paritylab Require {name}." for name in names]
    pairs = ",\n  ".join(f"{name}.shown" for name in names)
    lines += [f"Definition all :=\n  ({pairs}).", "Print Assumptions all.", ""]
    files["All.v"] = "\n".join(lines)
    return files


def module_name(id: str) -> str:
    """hg1-lemma14-sign -> Hg1Lemma14Sign."""
    return "".join(part.capitalize() for part in id.split("-"))


def write(folder: Path) -> list[Path]:
    """Write all files into a folder; those that are there are replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, text in sources().items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        made.append(path)
    return made


def _title(text: str) -> str:
    """The first paragraph of what a writer made is the title of its file."""
    return text.split("\n\n", 1)[0]


def _body(text: str) -> str:
    return "\n" + text.split("\n\n", 1)[1]

"""Runs the statement of an id on its certificate.

What is to be shown is in `statements`, by id, so that a file cannot ask for less.
"""

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from paritylab.proofs import reading
from paritylab.proofs.domain import shortened

HERE = Path(__file__).parent
CERTIFICATES, STATEMENTS = HERE / "certificates", HERE / "statements"


@dataclass(frozen=True)
class Result:
    """What became of a proof: its inequalities in words with their enclosures, in order.

    failure: the inequality that could not be shown, if not verified. seconds: of processor time,
    in all processes. wall: seconds from beginning to end.
    """

    claim: str
    title: str
    verified: bool
    steps: list[tuple[str, str]] = field(default_factory=list)
    failure: str = ""
    seconds: float = 0.0
    wall: float = 0.0


def missing_extra() -> str:
    """One line that says how to get what is missing, or nothing."""
    if find_spec("flint") is not None:
        return ""
    return "proofs need python-flint, which is not installed: pip install 'paritylab[proofs]'"


def provable() -> list[str]:
    """The ids of all statements, in order."""
    files = (path.stem for path in STATEMENTS.glob("*.py") if path.stem != "__init__")
    return sorted(stem.replace("_", "-") for stem in files)


def statement(id: str) -> ModuleType:
    """The module that states and proves it."""
    if id not in provable():
        raise ValueError(f"no statement {shortened(id)!r}; there are: {', '.join(provable())}")
    if missing := missing_extra():
        raise ValueError(missing)
    return importlib.import_module(f"paritylab.proofs.statements.{id.replace('-', '_')}")


def expected_seconds(id: str) -> float:
    """About how long a proof takes; 1 unless the statement says more."""
    return float(getattr(statement(id), "SECONDS", 1))


def load_certificate(path: str | Path) -> dict[str, Any]:
    """The certificate in a file, its numbers as integers and fractions.

    ValueError in one line for anything else: too large, not JSON, a key given twice, inexact
    numbers, unknown id, another setting than the statement's, a witness outside its domain.
    """
    content = reading.read(path)
    try:
        return _checked(content)
    except ValueError as error:
        raise ValueError(f"{Path(path).name}: {error}") from None


def _checked(content: Any, id: str | None = None) -> dict[str, Any]:
    """The certificate with its numbers as integers and fractions; id: whose it has to be."""
    if not isinstance(content, dict) or not isinstance(content.get("claim"), str):
        raise ValueError("a certificate is an object with claim, setting and witness only")
    id = id or content["claim"]
    return reading.checked(content, id, statement(id).SETTING, statement(id).WITNESS)


def verify(
    id: str,
    certificate: dict[str, Any] | None = None,
    *,
    reverse: int | None = None,
    report: Callable[[float], None] = lambda share: None,
    jobs: int = 1,
) -> Result:
    """Prove a statement from its certificate, by default the package's own.

    A certificate that is not one of this statement is refused with a ValueError. What is one but
    does not show it makes a result that is not verified. reverse: turn the inequality of that
    number round, for tests. jobs: processes for the statements that can be cut into parts.
    """
    module = statement(id)
    from paritylab.proofs.kernel import NotShownError, Proof

    own = load_certificate(CERTIFICATES / f"{id}.json") if certificate is None else certificate
    held = _checked(own, id)
    proof, failure = Proof(reverse, report, jobs), ""
    start, begun = time.process_time(), time.monotonic()
    try:
        module.prove(proof, _as_rationals(held["setting"]), _as_rationals(held["witness"]))
    except NotShownError as error:
        failure = str(error)
    except ArithmeticError as error:
        failure = f"the arithmetic ended: {error}"
    seconds = time.process_time() - start + proof.elsewhere
    wall = time.monotonic() - begun
    return Result(id, module.TITLE, not failure, proof.steps, failure, seconds, wall)


def _as_rationals(value: Any) -> Any:
    """The same numbers, fractions as rationals of python-flint."""
    from flint import fmpq

    if isinstance(value, Fraction):
        return fmpq(value.numerator, value.denominator)
    if isinstance(value, list):
        return [_as_rationals(each) for each in value]
    if isinstance(value, dict):
        return {name: _as_rationals(each) for name, each in value.items()}
    return value


def settles(id: str, status: str) -> bool:
    """Whether what is proved decides for this status.

    A statement shows that the printed claim fails, which leaves it corrected or refuted, or that
    it holds.
    """
    decided = {"fails": ("corrected", "refuted"), "holds": ("holds",)}
    return status in decided[statement(id).PRINTED]


def title(id: str) -> str:
    """What is proved, in one sentence, with its setting."""
    return str(statement(id).TITLE)

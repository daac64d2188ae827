"""Loads certificates, refuses what is not one, and runs the statement of the same id.

A certificate is a JSON file with `claim`, `setting` and `witness`. Its numbers are exact: integers,
rationals "p/q" and hexadecimal floats "0x1.8p+1". What is to be shown is in `statements`, by id, so
that a file cannot ask for less.
"""

import hashlib
import importlib
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent
CERTIFICATES, STATEMENTS = HERE / "certificates", HERE / "statements"
#: Larger files are refused unread; deeper ones and longer numbers, too.
LARGEST_FILE, DEEPEST, LONGEST_NUMBER = 1 << 16, 6, 200
_RATIONAL = re.compile(r"-?\d+(/[1-9]\d*)?\Z")
_DYADIC = re.compile(r"-?0x[01]\.[0-9a-f]{1,13}p[+-]\d{1,4}\Z")

#: Proofs that take longer than this many seconds are not repeated by `verified`.
LIVE_SECONDS = 20
#: For those: the files with which `prove --record` verified them last, as a hash.
RECORD = HERE / "verified.json"
#: What `verified` found, by id and the files it stood on; in memory only.
_FOUND: dict[tuple[str, str], bool] = {}


@dataclass(frozen=True)
class Result:
    """What became of a proof: its inequalities in words with their enclosures, in order.

    failure: the inequality that could not be shown, if not verified. seconds: of processor time.
    """

    claim: str
    title: str
    verified: bool
    steps: list[tuple[str, str]] = field(default_factory=list)
    failure: str = ""
    seconds: float = 0.0


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
        raise ValueError(f"no statement {id!r}; there are: {', '.join(provable())}")
    if missing := missing_extra():
        raise ValueError(missing)
    return importlib.import_module(f"paritylab.proofs.statements.{id.replace('-', '_')}")


def expected_seconds(id: str) -> float:
    """About how long a proof takes; 1 unless the statement says more."""
    return float(getattr(statement(id), "SECONDS", 1))


def load_certificate(path: str | Path) -> dict[str, Any]:
    """The certificate in a file, its numbers as integers and fractions.

    ValueError in one line for anything else: too large, not JSON, inexact numbers, unknown id,
    another setting than the statement's, witnesses that are missing or not asked for.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"no certificate at {path}")
    if path.stat().st_size > LARGEST_FILE:
        raise ValueError(f"{path.name}: a certificate has at most {LARGEST_FILE} bytes")
    try:
        content = json.loads(path.read_text(encoding="utf-8"), parse_float=_inexact)
    except (UnicodeDecodeError, RecursionError, json.JSONDecodeError) as error:
        raise ValueError(f"{path.name}: not JSON: {error}") from None
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
    try:
        return _checked(content)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None


def _checked(content: Any) -> dict[str, Any]:
    if not isinstance(content, dict) or set(content) != {"claim", "setting", "witness"}:
        raise ValueError("a certificate is an object with claim, setting and witness only")
    module = statement(str(content["claim"]))
    setting, witness = (_exact(content[part]) for part in ("setting", "witness"))
    if setting != _exact(module.SETTING):
        raise ValueError(
            f"the statement is about {module.SETTING}, the certificate about {setting}"
        )
    names = sorted(module.WITNESS)
    if not isinstance(witness, dict) or sorted(witness) != names:
        raise ValueError(f"the witness of {content['claim']} has {names}")
    return {"claim": content["claim"], "setting": setting, "witness": witness}


def _inexact(number: str) -> Any:
    raise ValueError(f'{number} is not exact; write "p/q" or a hexadecimal float in quotes')


def _exact(value: Any, depth: int = 0) -> Any:
    """Integers, rationals and dyadic floats, in lists and objects."""
    if depth > DEEPEST:
        raise ValueError(f"nested deeper than {DEEPEST}")
    if isinstance(value, bool) or value is None:
        raise ValueError(f"expected a number, got {value}")
    if isinstance(value, int | Fraction):
        if value.numerator.bit_length() > 4 * LONGEST_NUMBER:
            raise ValueError("a number is too long")
        return value
    if isinstance(value, str):
        return _number(value)
    if isinstance(value, list | tuple):
        return [_exact(each, depth + 1) for each in value]
    if isinstance(value, dict):
        return {str(name): _exact(each, depth + 1) for name, each in value.items()}
    raise ValueError(f"expected a number, got {type(value).__name__}")


def _number(written: str) -> Any:
    if len(written) > LONGEST_NUMBER:
        raise ValueError("a number is too long")
    if _RATIONAL.match(written):
        fraction = Fraction(written)
        return fraction.numerator if fraction.denominator == 1 else fraction
    if _DYADIC.match(written):
        return Fraction(float.fromhex(written))
    raise ValueError(
        f'{written!r} is no exact number; expected "p/q" or a float such as "0x1.8p+1"'
    )


def verify(
    id: str,
    certificate: dict[str, Any] | None = None,
    *,
    reverse: int | None = None,
    report: Callable[[float], None] = lambda share: None,
) -> Result:
    """Prove a statement from its certificate, by default the package's own.

    reverse: turn the inequality of that number round, for tests. Nothing else than an inequality
    that cannot be shown makes a result that is not verified.
    """
    module = statement(id)
    from paritylab.proofs.kernel import NotShownError, Proof

    held = certificate or load_certificate(CERTIFICATES / f"{id}.json")
    if held["claim"] != id:
        raise ValueError(f"the certificate is of {held['claim']}, not of {id}")
    proof, start, failure = Proof(reverse, report), time.process_time(), ""
    try:
        module.prove(proof, _as_rationals(held["setting"]), _as_rationals(held["witness"]))
    except NotShownError as error:
        failure = str(error)
    seconds = time.process_time() - start
    return Result(id, module.TITLE, not failure, proof.steps, failure, seconds)


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


def verified(id: str) -> bool:
    """Whether the statement is proved: shown here and now, once per certificate and checker.

    A long proof counts if `prove --record` verified exactly these files.
    """
    if missing_extra() or id not in provable():
        return False
    key = (id, fingerprint(id))
    if expected_seconds(id) > LIVE_SECONDS:
        return recorded().get(id) == key[1]
    if key not in _FOUND:
        _FOUND[key] = verify(id).verified
    return _FOUND[key]


def settles(id: str, status: str) -> bool:
    """Whether what is proved decides for this status.

    A statement shows that the printed claim fails, which leaves it corrected or refuted, or that
    it holds.
    """
    decided = {"fails": ("corrected", "refuted"), "holds": ("holds",)}
    return status in decided[statement(id).PRINTED]


def recorded() -> dict[str, str]:
    """The hashes behind long proofs that were verified, by id."""
    return json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.is_file() else {}


def record(result: Result) -> None:
    """Keep the hash behind a long proof; one that fails loses its entry."""
    if expected_seconds(result.claim) <= LIVE_SECONDS:
        return
    kept = {id: mark for id, mark in recorded().items() if id != result.claim}
    if result.verified:
        kept[result.claim] = fingerprint(result.claim)
    RECORD.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def files_of(id: str) -> list[Path]:
    """The files a proof stands on: its certificate, its statement, the checker and its kernel."""
    own = [CERTIFICATES / f"{id}.json", STATEMENTS / f"{id.replace('-', '_')}.py"]
    return [*own, *(HERE / name for name in ("checker.py", "kernel.py", "pairs.py"))]


def title(id: str) -> str:
    """What is proved, in one sentence."""
    return str(statement(id).TITLE)


def fingerprint(id: str) -> str:
    """A hash of the certificate, the statement and the checker."""
    parts = [path.read_bytes() if path.is_file() else b"" for path in files_of(id)]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()

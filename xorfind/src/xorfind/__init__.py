"""A hidden XOR in a table, in frames or in addresses: found with its evidence, or an honest no.

>>> import numpy, xorfind
>>> X = numpy.random.default_rng(0).integers(0, 2, (100, 8))
>>> xorfind.discover(X, X[:, 2] ^ X[:, 5]).columns
('x2', 'x5')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.4.0"

#: Where each public name lives; a module is loaded when one of its names is used.
_HOMES = {
    "Answer": "answer",
    "Conclusion": "answer",
    "METHODS": "solvers.solving",
    "ParityClassifier": "estimator",
    "Rate": "statistics",
    "Rule": "rule",
    "XorMatrix": "fields.matrix",
    "detectable_noise": "evidence.power",
    "discover": "search",
    "hunt": "fields.hunt",
    "read_fields": "fields.reading",
    "rows_needed": "evidence.power",
    "solve": "solvers.solving",
    "support_power": "evidence.power",
}
__all__ = [*sorted(_HOMES)]  # noqa: PLE0604

if TYPE_CHECKING:
    from xorfind.answer import Answer as Answer, Conclusion as Conclusion
    from xorfind.estimator import ParityClassifier as ParityClassifier
    from xorfind.evidence.power import (
        detectable_noise as detectable_noise,
        rows_needed as rows_needed,
        support_power as support_power,
    )
    from xorfind.fields.hunt import hunt as hunt
    from xorfind.fields.matrix import XorMatrix as XorMatrix
    from xorfind.fields.reading import read_fields as read_fields
    from xorfind.rule import Rule as Rule
    from xorfind.search import discover as discover
    from xorfind.solvers.solving import METHODS as METHODS, solve as solve
    from xorfind.statistics import Rate as Rate


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'xorfind' has no attribute {name!r}")
    return getattr(import_module(f"xorfind.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

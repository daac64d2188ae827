"""Temperatures: numbers, formulas in n, functions of n, and schedules that fall in training.

A schedule is a text such as "n/4 -> 1/n", which falls geometrically from the first temperature to
the second, or a function of n and of the share of the steps that is done.
"""

import ast
import inspect
import math
import operator
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from paritylab._support.checks import shortened

#: What `Heads` takes as its temperature.
Temperature: TypeAlias = float | str | Callable[[int], float] | Callable[[int, float], float]

_OPERATIONS: dict[type, Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}
_FUNCTIONS = {"sqrt": math.sqrt, "log": math.log}


def temperature(tau: Temperature, n: int, share: float = 1.0) -> float:
    """The temperature at n bits once a share of the steps is done; schedules end at share 1.

    >>> temperature("n/4", 20), temperature("1/n^2", 10), temperature(lambda n: 2 / n, 8)
    (5.0, 0.01, 0.25)
    >>> [temperature("1 -> 1/n^2", 10, share) for share in (0.0, 0.5, 1.0)]
    [1.0, 0.1, 0.01]
    """
    try:
        if isinstance(tau, str):
            first, *last = (_formula(part, n) for part in tau.split("->"))
            # More than one arrow leaves too many parts to unpack.
            value = first if not last else first * (last[0] / first) ** share
            value = value if len(last) < 2 else math.nan
        elif callable(tau):
            given = (n, share) if is_schedule(tau) else (n,)
            value = float(tau(*given))
        else:
            value = float(tau)
    except (ArithmeticError, SyntaxError, TypeError, ValueError, KeyError) as error:
        raise ValueError(
            'tau must be a number, a formula in n such as "2/n" or "n**-1.5", a schedule such as '
            f'"n/4 -> 1/n", or a function of n, or of n and the share of steps done; got '
            f"{shortened(tau)} ({error})"
        ) from None
    if not 0 < value < math.inf:
        raise ValueError(
            f"tau must be positive and finite, got {value} from {shortened(tau)}, n={n}"
        )
    return value


def is_schedule(tau: Temperature) -> bool:
    """Whether the temperature changes during training."""
    if isinstance(tau, str):
        return "->" in tau
    return callable(tau) and len(inspect.signature(tau).parameters) > 1


def temperatures(tau: Temperature, n: int, steps: int) -> np.ndarray:
    """The temperature of every step of a schedule: step t of T is trained at share t/T."""
    return np.array([temperature(tau, n, step / steps) for step in range(steps)])


def _formula(text: str, n: int) -> float:
    """An arithmetic expression in n; ^ and ² are powers, sqrt and log functions."""
    plain = text.strip().replace("^", "**").replace("²", "**2")
    return _value(ast.parse(plain[:80], mode="eval").body, float(n))


def _value(node: ast.expr, n: float) -> float:
    """An expression of numbers, n, + - * / **, sqrt and log; anything else is refused, not run."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return float(number)
        case ast.Name(id="n"):
            return n
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATIONS[type(op)](_value(left, n), _value(right, n))
        case ast.UnaryOp(op=op, operand=operand):
            return _OPERATIONS[type(op)](_value(operand, n))
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]):
            return _FUNCTIONS[name](_value(argument, n))
    raise ValueError(f"{ast.unparse(node)} is not arithmetic in n")

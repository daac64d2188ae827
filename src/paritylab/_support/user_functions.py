"""Users' functions inside compiled code: when it is compiled anew, and whether jax can call them.

Compiled code is found again by the identity of the functions in it. A user's function may read a
global, a closure cell or an attribute that changes between two calls, and the identity does not
show it. So code that holds a user's function is compiled once per call of a public function, under
a mark of that call; the lab's own parts, which never change, carry no mark.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from functools import partial
from types import MethodType

import jax
import jax.numpy as jnp
import numpy as np

#: Packages whose functions always do the same.
_FIXED = {"paritylab", "jax", "jaxlib", "numpy", "equinox", "optax", "jaxtyping"}

_FIXED |= {"beartype", *sys.stdlib_module_names}

#: The mark of the call in progress. It is part of the key under which jax keeps compiled code.
_call = jax.make_user_context(None)  # type: ignore[no-untyped-call]


def is_fixed(part: object) -> bool:
    """Whether a part of a learner, model or loss surely computes the same in every call.

    Numbers, text, arrays, and functions and objects of the packages above are fixed, as long as
    what they hold is.
    """
    return _fixed(part, set())


def _fixed(part: object, seen: set[int]) -> bool:
    plain = str | bytes | complex | float | int | jax.Array | np.ndarray | np.generic
    if part is None or isinstance(part, plain) or id(part) in seen:
        return True
    seen.add(id(part))
    held: list[object] = [cell.cell_contents for cell in getattr(part, "__closure__", None) or ()]
    if isinstance(part, partial):
        held = [part.func, part.args, part.keywords]
    elif isinstance(part, MethodType):
        held = [part.__func__, part.__self__]
    elif isinstance(part, Mapping):
        held = list(part.values())
    elif isinstance(part, tuple | list | set | frozenset):
        held = list(part)
    elif is_dataclass(part) and not isinstance(part, type):
        held = [getattr(part, each.name, None) for each in fields(part)]
    return _package_of(part) in _FIXED and all(_fixed(each, seen) for each in held)


def _package_of(part: object) -> str:
    """The package that defines a function, or the class of an object.

    A function's globals say where it was written; `functools.wraps` changes its `__module__`.
    """
    scope = getattr(part, "__globals__", {})
    module = scope.get("__name__") or getattr(part, "__module__", None) or type(part).__module__
    return str(module).partition(".")[0]


def mark_of(*parts: object) -> object:
    """None for fixed parts; otherwise the mark of this call, for the keys of compiled code."""
    if is_fixed(parts):
        return None
    return object() if _call.value is None else _call.value


@contextmanager
def one_call(*parts: object) -> Iterator[None]:
    """Inside, code is compiled anew if a part is a user's own function; nested calls share it."""
    mark = mark_of(*parts)
    if mark is None or _call.value is not None:
        yield
        return
    with _call(mark):
        yield


def call_in_progress() -> object:
    """The mark of the call in progress, or None."""
    return _call.value


def check_scalar_function(what: str, function: Callable[..., object], arguments: int) -> None:
    """A clear error unless compiled code can call function(number, …) and gets one real number.

    what: how messages name the function. arguments: how many numbers it takes.
    """
    number = np.zeros((), jnp.result_type(float))

    def wrapped(*numbers: jax.Array) -> object:  # jax may crash on a built-in function itself
        return function(*numbers)

    try:
        found = jax.eval_shape(wrapped, *[number] * arguments)
    except jax.errors.TracerBoolConversionError:
        advice = "branches on its value (if, and, min, max); use jnp.where, jnp.minimum"
    except (jax.errors.TracerArrayConversionError, jax.errors.ConcretizationTypeError):
        advice = "cannot take arrays; use jax.numpy, such as jnp.cos for math.cos or np.cos"
    except Exception as error:
        first_line = next(iter(str(error).strip().splitlines()), type(error).__name__)
        advice = f"must take {arguments} number{'s' * (arguments > 1)}, but fails: {first_line}"
    else:
        shape, kind = getattr(found, "shape", None), getattr(found, "dtype", None)
        if shape == () and kind is not None and not jnp.issubdtype(kind, jnp.complexfloating):
            return
        came = f"shape {shape} of {kind}" if shape is not None else type(found).__name__
        advice = f"must return one real number for each input, got {came}"
    raise ValueError(f"{what} {advice}") from None


def name_of(function: Callable[..., object]) -> str:
    """The name a message or a table can show."""
    return str(getattr(function, "__name__", type(function).__name__))

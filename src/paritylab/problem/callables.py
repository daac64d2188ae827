"""Functions that users bring: one trial call, and one line that says what to change."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np


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

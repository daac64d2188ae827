"""What the lab asks of a model: predict one bit string, and let its trainable numbers be replaced.

Any `equinox.Module` that maps one bit string to one number will do: its floating arrays are what
trains. A model with other wishes says so with two methods, `parameters()` and
`with_parameters(parameters)`.
"""

from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp


@runtime_checkable
class Model(Protocol):
    """A predictor of one bit string (n,) of zeros and ones."""

    def __call__(self, bits: Any, /) -> Any: ...


def parameters_of(model: Any) -> Any:
    """The trainable numbers of a model, a tree of arrays."""
    if hasattr(model, "parameters"):
        return model.parameters()
    return eqx.filter(model, eqx.is_inexact_array_like)


def with_parameters(model: Any, parameters: Any) -> Any:
    """The model with other numbers in place of its own."""
    if hasattr(model, "with_parameters"):
        return model.with_parameters(parameters)
    return eqx.combine(parameters, model)


def check_model(model: Any, n: int) -> None:
    """One clear line if `model` does not map one string of n bits to one number."""
    name = type(model).__name__
    if not callable(model):
        raise ValueError(
            f"a model needs a method __call__(bits) that predicts one bit string, {name} has none"
        )
    if not isinstance(model, eqx.Module):
        for method in ("parameters", "with_parameters"):
            if not hasattr(model, method):
                raise ValueError(
                    f"{name} lacks {method}(): make it an equinox.Module (its arrays are trained) "
                    "or give it parameters() and with_parameters(parameters)"
                )
    if not jax.tree.leaves(parameters_of(model)):
        raise ValueError(f"{name} has no trainable numbers: no floating array among its fields")
    try:
        shape = eqx.filter_eval_shape(model, jnp.zeros(n)).shape
    except Exception as error:
        raise ValueError(f"{name} fails on a string of {n} bits: {_first_line(error)}") from None
    if shape != ():
        raise ValueError(f"{name} must return one number per bit string, got shape {shape}")


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    if isinstance(error, jax.errors.TracerBoolConversionError):
        return "a Python `if` on a value; use jnp.where"
    return lines[0]

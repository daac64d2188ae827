"""What the lab asks of a model: predict one bit string, and let its trainable numbers be replaced.

Any `equinox.Module` that maps one bit string to one number will do: its floating arrays are what
trains; Python floats among its fields are constants. A model with other wishes says so with two
methods, `parameters()` and `with_parameters(parameters)`.
"""

from typing import ClassVar, Protocol, TypeVar, cast, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from paritylab._support.precision import AnyArray

_M = TypeVar("_M")


@runtime_checkable
class Model(Protocol):
    """A predictor of one bit string (n,) of zeros and ones."""

    def __call__(self, bits: Float[Array, " n"], /) -> Float[Array, ""]: ...


def is_model(thing: object) -> bool:
    """Whether `thing` is meant as a model, not as a function that makes one."""
    if isinstance(thing, type):
        return False
    return isinstance(thing, eqx.Module) or hasattr(thing, "with_parameters")


def parameters_of(model: object) -> object:
    """The trainable numbers of a model: a tree of arrays, as its `parameters()` orders them."""
    if hasattr(model, "parameters"):
        return model.parameters()
    return eqx.filter(model, _trains)


def with_parameters(model: _M, parameters: object) -> _M:
    """The model with other numbers in place of its own."""
    if hasattr(model, "with_parameters"):
        changed: _M = model.with_parameters(parameters)
        return changed
    return cast(_M, eqx.combine(parameters, model))


def _trains(leaf: object) -> bool:
    if not isinstance(leaf, jax.Array | np.ndarray | np.generic):
        return False
    return bool(jnp.issubdtype(leaf.dtype, jnp.floating))


_One = TypeVar("_One", bound="TrainsOneArray")


class TrainsOneArray(eqx.Module):
    """A model of which one array trains: the field named `trained`."""

    trained: ClassVar[str]

    def parameters(self) -> AnyArray:
        """The array that trains."""
        found: AnyArray = getattr(self, self.trained)
        return found

    def with_parameters(self: _One, parameters: AnyArray) -> _One:
        """The same model with another array in its place."""
        changed: _One = eqx.tree_at(lambda model: getattr(model, self.trained), self, parameters)
        return changed


def check_model(model: object, n: int, *, trains: bool = True) -> None:
    """One clear line if `model` does not map one string of n bits to one number.

    trains: it must have numbers to train, too.
    """
    name = type(model).__name__
    if not callable(model):
        raise ValueError(
            f"a model needs a method __call__(bits) that predicts one bit string, {name} has none; "
            "for an attention matrix use population_risk"
        )
    methods = [hasattr(model, each) for each in ("parameters", "with_parameters")]
    if not all(methods) and (any(methods) or not isinstance(model, eqx.Module)):
        lacking = "with_parameters" if methods[0] else "parameters"
        raise ValueError(
            f"{name} lacks {lacking}(): make it an equinox.Module (its arrays are trained) "
            "or give it both parameters() and with_parameters(parameters)"
        )
    if trains and not jax.tree.leaves(parameters_of(model)):
        raise ValueError(f"{name} has no trainable numbers: no floating array among its fields")
    try:
        made = eqx.filter_eval_shape(model, jnp.zeros(n))
    except Exception as error:
        raise ValueError(f"{name} fails on a string of {n} bits: {first_line(error)}") from None
    shape = getattr(made, "shape", () if isinstance(made, int | float) else None)
    if shape != ():
        got = f"got shape {shape}" if shape else f"got {type(made).__name__}"
        raise ValueError(f"{name} must return one number per bit string, {got}")


def first_line(error: Exception) -> str:
    """What went wrong in a user's function, in one line."""
    if isinstance(error, jax.errors.TracerBoolConversionError):
        return "a Python `if` on a value; use jnp.where"
    return (str(error).strip().splitlines() or [type(error).__name__])[0]

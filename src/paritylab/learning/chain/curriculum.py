"""Which levels of a chain are trained when: a filter, self-consistency, the lowest level only."""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Annotated, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from annotated_doc import Doc
from annotated_types import Ge, Gt, Lt
from jaxtyping import Array, Bool, Float, Int

from paritylab._support.checks import shortened
from paritylab._support.precision import AnyArray
from paritylab.learning.chain.evaluation import pair_scores
from paritylab.learning.chain.oracles import is_leaf
from paritylab.learning.saving import savable
from paritylab.models.chain import ChainModel
from paritylab.options import check_settings, options_of
from paritylab.problem.tree import level_ends

#: A level opens to the next one once one of its softmax scores exceeds this.
OPENS_AT = 0.4


@savable
@partial(jax.tree_util.register_dataclass, data_fields=["threshold"], meta_fields=["augmentation"])
@dataclass(frozen=True)
class Filter:
    """Theorem 7's filter: a level is silenced if it rests on a token that says nothing.

    augmentation: unlabelled strings on which the model is tried before every step. threshold: ε₀; a
    token of the level below that stays within it of -1 on all strings silences the level.
    """

    augmentation: Annotated[int, Ge(1), Doc("Unlabelled strings of the filter.")] = 256
    threshold: Annotated[float, Gt(0), Lt(2), Doc("Distance from -1 that is too little.")] = 1.6

    def __post_init__(self) -> None:
        if not is_leaf(self.threshold):
            check_settings("Filter", vars(self), options_of(Filter))


#: All levels at once, one after the other by self-consistency, or behind a filter.
Curriculum: TypeAlias = str | Filter
CURRICULA: dict[str, Curriculum] = {
    "all": "all",
    "self-consistency": "self-consistency",
    "filter": Filter(),
}


def as_curriculum(curriculum: Curriculum) -> Curriculum:
    """A curriculum from its name; a `Filter` passes unchanged."""
    if isinstance(curriculum, Filter):
        return curriculum
    if isinstance(curriculum, str) and curriculum in CURRICULA:
        return CURRICULA[curriculum]
    raise ValueError(
        f"curriculum must be one of {', '.join(CURRICULA)} or a Filter(augmentation, threshold), "
        f"got {shortened(curriculum)}"
    )


def level_passes(
    curriculum: Curriculum, model: ChainModel, strings: Float[Array, "strings n"] | None
) -> Float[Array, " levels"]:
    """1 for every level that is trained now, 0 for one that is silenced. strings: of a filter."""
    if isinstance(curriculum, Filter) and strings is not None:
        return filter_levels(model, strings, curriculum.threshold)
    if curriculum == "self-consistency":
        return open_levels(model)
    return jnp.ones(model.k.bit_length() - 1)


def filter_levels(
    model: ChainModel, strings: Float[Array, "strings n"], threshold: float | AnyArray
) -> Float[Array, " levels"]:
    """1 for every level that the filter lets through, 0 for those it silences."""
    tokens, below, passes = strings, slice(0, model.n), []
    attention = model.attention().astype(strings.dtype)
    for end in level_ends(model.n, model.k)[1:]:
        silent = jnp.max(jnp.abs(tokens[:, below] + 1), axis=0) < threshold
        passes.append(jnp.where(jnp.any(silent), 0.0, 1.0).astype(strings.dtype))
        below = slice(tokens.shape[1], end)
        tokens = model.next_level(tokens, attention, passes[-1])
    return jnp.stack(passes)


def open_levels(model: ChainModel) -> Float[Array, " levels"]:
    """1 for every open level: the first, and one above an open level with a sharp softmax score."""
    attention, gates = model.attention(), [jnp.ones(())]
    for start, end in pairwise(np.subtract(level_ends(model.n, model.k), model.n)[:-1]):
        gates.append(gates[-1] * (jnp.max(attention[:, start:end]) > OPENS_AT))
    return jnp.stack(gates)


def lowest_level(scores: Float[Array, "tokens nodes"]) -> Bool[Array, " nodes"]:
    """The nodes of the lowest level whose weights are all zero; none if there is no such level."""
    ends = np.asarray(level_ends(0, scores.shape[1] + 1))
    levels = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    parts = jnp.split(scores, ends[1:-1], axis=1)
    trained = jnp.stack([jnp.any(part != 0) for part in parts])
    return jnp.asarray(levels == jnp.argmin(trained)) & ~trained[levels]


def levels_solved(
    scores: Float[AnyArray, "tokens nodes"], leaves: Int[AnyArray, " k"], mask: str = "level"
) -> Float[Array, " levels"]:
    """Share of nodes per level whose children's scores are equal and 1 above the others."""
    children, others = pair_scores(scores, leaves, mask)
    equal = jnp.abs(children[0] - children[1]) < 0.2
    good = equal & (jnp.min(children, axis=0) > others + 1)
    ends = np.asarray(level_ends(0, len(leaves)))
    return jnp.stack([jnp.mean(part) for part in jnp.split(good, ends[1:-1])])

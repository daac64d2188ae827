"""The decoder against a plain loop, places of every kind, and the exact construction."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab._support.precision import float64
from paritylab.models import CountingTransformer, Decoder
from paritylab.models.constructions import answers_by_count
from paritylab.models.transformer import (
    MARK,
    AbstractPlaces,
    Build,
    LearnedPlaces,
    RotaryPlaces,
    as_places,
)


def plain_logits(model: Decoder, sequence: np.ndarray) -> np.ndarray:
    """The logits of every slot of a pre-norm model with learned places, token by token."""

    def normed(v, norm=(1.0, 0.0)):
        return (v - v.mean()) / np.sqrt(v.var() + 1e-5) * np.array(norm[0]) + np.array(norm[1])

    vectors = [np.asarray(model.tokens)[t] for t in sequence]
    vectors = [v + row for v, row in zip(vectors, np.asarray(model.places.table), strict=True)]
    for block in jax.tree.map(np.asarray, model.blocks):
        seen, after = [normed(v, block.norms[0]) for v in vectors], []
        for place in range(len(vectors)):
            parts = []
            size = len(vectors[0]) // model.heads
            for head in range(model.heads):
                part = slice(head * size, (head + 1) * size)
                query = (seen[place] @ block.query)[part]
                scores = [query @ (s @ block.key)[part] / np.sqrt(size) for s in seen[: place + 1]]
                weights = np.exp(scores) / np.exp(scores).sum()
                values = [(s @ block.value)[part] for s in seen[: place + 1]]
                parts.append(np.array(weights) @ np.array(values))
            added = vectors[place] + np.concatenate(parts) @ block.out
            hidden = np.maximum(normed(added, block.norms[1]) @ block.inner + block.bias, 0)
            after.append(added + hidden @ block.outer)
        vectors = after
    return np.array([normed(v) @ np.asarray(model.readout) for v in vectors[model.n :]])


@pytest.mark.parametrize("layers", [1, 2])
def test_the_decoder_is_attention_written_out(layers):
    with float64():
        model = Build(4, (True, True, True), layers=layers, heads=2, width=6).draw(
            jax.random.key(3)
        )
        sequence = np.array([0, 1, 1, 0, MARK, 1, 0])
        out = model.outcome(sequence)
        np.testing.assert_allclose(out.logits, plain_logits(model, sequence), atol=1e-10)
        np.testing.assert_allclose(np.asarray(out.attention).sum(axis=-1), 1, atol=1e-12)


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "rotary"])
def test_a_slot_sees_nothing_that_is_written_later(positions):
    model = Build(4, (True,) * 3, layers=2, positions=positions).draw(jax.random.key(0))
    first, second = (model.outcome(np.array([0, 1, 1, 0, MARK, 1, last])) for last in (0, 1))
    np.testing.assert_array_equal(first.logits[:2], second.logits[:2])
    assert np.abs(np.asarray(first.logits[2] - second.logits[2])).max() > 1e-3


def test_a_written_chain_is_the_likelier_token_slot_by_slot():
    model = Build(5, (True, False, True)).draw(jax.random.key(1))
    bits = np.array([1, 0, 0, 1, 1])
    chain, answer = model.write(jnp.asarray(bits))
    assert chain[1] == MARK
    sequence = np.array([*bits, MARK, *np.asarray(chain)[:-1]])
    logits = np.asarray(model.outcome(sequence).logits)
    assert [int(np.argmax(logits[slot])) for slot in (0, 2)] == [int(chain[0]), int(chain[2])]
    probabilities = np.exp(logits[2]) / np.exp(logits[2]).sum()
    assert float(answer) == pytest.approx(probabilities[0] - probabilities[1], abs=1e-5)
    assert float(model(bits.astype(float))) == float(answer)


def test_rotary_scores_see_distances_alone():
    with float64():
        vectors = jax.random.normal(jax.random.key(0), (1, 1, 8))
        turned = np.asarray(RotaryPlaces().turn(jnp.tile(vectors, (9, 1, 1))))[:, 0]
        scores = turned @ turned.T
        for distance in (1, 3):
            np.testing.assert_allclose(np.diag(scores, distance), scores[0, distance], atol=1e-9)


class Scaled(AbstractPlaces):
    """A user's own places."""

    def add(self, vectors):
        return vectors * (1 + jnp.arange(len(vectors)))[:, None]

    def turn(self, vectors):
        return vectors


def test_places_of_ones_own():
    table = jnp.zeros((5, 4))
    assert isinstance(as_places("learned", table), LearnedPlaces)
    given = as_places(lambda length, width: np.ones((length, width)), table)
    np.testing.assert_array_equal(given.add(table), 1)
    assert as_places(Scaled(), table).add(jnp.ones((3, 1))).ravel().tolist() == [1, 2, 3]


@pytest.mark.parametrize("n", [1, 7])
def test_the_counting_transformer_is_right_on_every_string(n):
    rows = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    with float64():
        answers = np.asarray(jax.vmap(CountingTransformer.of(n))(rows.astype(float)))
    np.testing.assert_array_equal(np.sign(answers), (-1.0) ** rows.sum(axis=1))
    np.testing.assert_allclose(answers, answers_by_count(n)[rows.sum(axis=1)], atol=1e-15)

"""Several routes to one number: enumeration, a plain numpy sum, sampling, autodiff."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paritylab._support.precision import float64
from paritylab.models import (
    FeedForward,
    FullFormAttention,
    HeadAttention,
    OneHot,
    RandomSigns,
    WeightedReadout,
    Zigzag,
)
from paritylab.problem import Parity, all_bits
from paritylab.problem.losses import LOSSES, as_loss
from paritylab.risk import (
    enumerated_gradient,
    enumerated_risk,
    population_gradient,
    population_risk,
    sampled_risk,
)
from paritylab.risk.objective import target_of, weight_risk
from paritylab.risk.routes import characteristic
from paritylab.risk.routes.series import layout_of

X64_MODES = [False]  # the routes choose their own precision; one test below tries both modes
N = 7
PROBLEMS = {
    "uniform": Parity(N, (1, 4)),
    "noisy": Parity(N, (0, 3, 6), noise=0.15),
    "biased": Parity(N, (2, 5), sign=-1, noise=0.05, bias=(0.2, 0.4, 0.7, 0.5, 0.9, 0.3, 0.6)),
}


def heads(problem, **options):
    return HeadAttention.random(5, problem, **{"tau": 0.4, **options})


MODELS = {
    "circle": heads,
    "fewer heads": lambda problem: heads(problem, heads=1),
    "cos": lambda problem: heads(problem, readout="cos"),
    "smoothed": lambda problem: heads(problem, readout=Zigzag(problem.k, 0.2)),
    "one-hot": lambda problem: heads(problem, code=OneHot(N)),
    "random signs": lambda problem: heads(problem, code=RandomSigns.draw(1, N, 4)),
    "4x4 unmasked": lambda problem: FullFormAttention.embed(heads(problem), masked=False),
    "feed-forward": lambda problem: FeedForward.random(5, N, width=3, b=0.1),
    "weights": lambda problem: WeightedReadout(np.linspace(0.1, 0.6, N), Zigzag(3)),
}


def plain_risk(model, problem, loss):
    """The definition, term by term, with no machinery in common but the model."""
    with jax.enable_x64(True):
        bits = np.asarray(next(all_bits(N)), dtype=float)
        predictions = np.asarray(jax.vmap(model)(bits))
    labels = problem.sign * (-1.0) ** bits[:, list(problem.subset)].sum(axis=1)
    p = problem.probabilities
    chance = np.prod(bits * p + (1 - bits) * (1 - p), axis=1)
    with jax.enable_x64(True):
        mean = sum(
            share * np.sum(chance * np.asarray(loss.pointwise(y, predictions)))
            for y, share in ((labels, 1 - problem.noise), (-labels, problem.noise))
        )
        return float(loss.outer(mean))


#: Every loss on two models, two losses on every model.
CASES = [
    (name, loss)
    for name in MODELS
    for loss in LOSSES
    if name in ("circle", "feed-forward") or loss in ("squared_hinge", "log_correlation")
]


@pytest.mark.grid(16)
@pytest.mark.parametrize(("name", "loss"), CASES)
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_enumeration_is_the_definition(name, problem, loss):
    model = MODELS[name](problem)
    risk = enumerated_risk(model, problem, loss)
    assert isinstance(risk.value, float)
    assert abs(risk.value - plain_risk(model, problem, LOSSES[loss])) <= max(risk.error, 1e-12)
    # -log|mean| magnifies rounding without limit as the mean goes to zero, and says so.
    assert risk.error < 1e-6 or (loss == "log_correlation" and risk.value > 20)


@pytest.mark.grid(2)
@pytest.mark.parametrize(("name", "loss"), CASES)
def test_sampling_agrees_within_its_error(name, loss):
    problem = PROBLEMS["biased"]
    model = MODELS[name](problem)
    exact = enumerated_risk(model, problem, loss)
    drawn = sampled_risk(model, problem, loss, samples=40_000, key=2)
    assert drawn.kind == "sampled"
    assert abs(drawn.value - exact.value) < 5 * drawn.error


@pytest.mark.parametrize("name", ["circle", "cos", "4x4 unmasked", "feed-forward"])
@pytest.mark.parametrize("loss", ["squared_hinge", "log_correlation"])
def test_gradient_is_the_slope_of_the_risk(name, loss):
    problem = PROBLEMS["noisy"]
    model = MODELS[name](problem)
    gradient = enumerated_gradient(model, problem, loss).gradient
    leaves, structure = jax.tree.flatten(model.parameters())
    generator = np.random.default_rng(0)
    step = [1e-6 * generator.normal(size=np.shape(leaf)) for leaf in leaves]

    def moved(scale):
        shifted = [leaf + scale * change for leaf, change in zip(leaves, step, strict=True)]
        return model.with_parameters(jax.tree.unflatten(structure, shifted))

    ahead, behind = (enumerated_risk(moved(sign), problem, loss).value for sign in (1, -1))
    predicted = sum(
        float(np.sum(slope * change))
        for slope, change in zip(jax.tree.leaves(gradient), step, strict=True)
    )
    assert np.isclose((ahead - behind) / 2, predicted, rtol=1e-4, atol=1e-11)


def test_chunked_enumeration_equals_one_chunk():
    problem = Parity(16, (3, 9, 15))
    model = HeadAttention.random(0, problem, tau=0.1)
    larger = enumerated_risk(model, problem)
    with jax.enable_x64(True):
        bits = np.concatenate(list(all_bits(16))).astype(float)
        predictions = np.asarray(jax.vmap(model)(bits))
    direct = np.mean(np.maximum(0, 1 - np.asarray(problem.label(bits)) * predictions) ** 2)
    assert np.isclose(larger.value, direct, atol=1e-12)


def test_bad_requests_say_what_came():
    problem = PROBLEMS["uniform"]
    model = heads(problem)
    with pytest.raises(ValueError, match="'absolute'"):
        as_loss("absolute")
    with pytest.raises(ValueError, match="n=40"):
        enumerated_risk(model, Parity(40, (0,)))
    with pytest.raises(ValueError, match="9 bits"):
        enumerated_risk(model, Parity(9, (0, 1)))
    with pytest.raises(ValueError, match="at least 2"):
        sampled_risk(model, problem, samples=1)


def test_the_ambient_precision_changes_no_risk():
    problem = Parity(N, (1, 4), noise=0.1, bias=0.4)
    model = HeadAttention.on(problem, tau=0.1)
    found = []
    for on in (False, True):
        with jax.enable_x64(on):
            found.append(
                [
                    enumerated_risk(model, problem).value,
                    population_risk(model, problem).value,
                    sampled_risk(model, problem, samples=500).value,
                ]
            )
    assert found[0] == found[1]


@pytest.mark.parametrize("fair", [True, False])
def test_the_characteristic_function_and_its_slopes_are_the_products(monkeypatch, fair):
    generator = np.random.default_rng(0)
    weights = np.concatenate([generator.random(3), 1e-3 * generator.random(40)])
    p = np.full(43, 0.5) if fair else generator.uniform(0.2, 0.8, 43)
    frequencies = np.pi * np.arange(9)
    layout = layout_of(weights, (1, 20), frequencies[-1])
    assert (layout.large < len(weights)).sum() == 2
    # Small chunks, so that the weights do not fill them evenly.
    monkeypatch.setattr(characteristic, "_CHUNK", 16)

    def joined(plain, signed):  # both parts of both functions
        waves = jnp.stack([plain.real, plain.imag, 2 * signed.real, 3 * signed.imag])
        return jnp.sum(jnp.cos(frequencies)[None] * waves)

    def ours(w):
        given = jnp.asarray(p), jnp.asarray(frequencies), layout
        return joined(*characteristic.characteristic(w, *given, fair=fair))

    def by_factors(w):
        turns = jnp.exp(1j * frequencies[:, None] * w[None, :])
        signs = jnp.ones(w.shape).at[jnp.array([1, 20])].set(-1.0)[None]
        chance = jnp.asarray(p)[None]
        return joined(
            *(jnp.prod(1 - chance + s * chance * turns, axis=1) for s in (1.0, signs)),
        )

    with float64():
        value, slopes = jax.value_and_grad(ours)(jnp.asarray(weights))
        wanted, wanted_slopes = jax.value_and_grad(by_factors)(jnp.asarray(weights))
        at_once = characteristic._sums_at_once(jnp.asarray(weights))
        in_chunks = characteristic._sums_of_chunks(jnp.asarray(weights))
    assert abs(float(value) - float(wanted)) < 1e-11
    np.testing.assert_allclose(slopes, wanted_slopes, atol=1e-10)
    np.testing.assert_allclose(at_once, in_chunks, rtol=1e-13)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "squared", "correlation"])
@pytest.mark.parametrize("missing", [(1,), (1, 4)])
def test_the_closed_form_has_slopes_at_weight_zero(loss, missing):
    """A fair hidden bit that no head looks at makes E[y cos πs] zero, but not its slope."""
    problem = Parity(6, (1, 4))
    attention = np.array([[0.3, 0, 0.1, 0.2, 0.4, 0.0], [0.2, 0, 0.1, 0.2, 0.4, 0.1]])
    attention[:, 0] += attention[:, list(missing)].sum(axis=1)
    attention[:, list(missing)] = 0
    options = {"readout": "cos", "loss": loss}
    found = population_gradient(attention, problem, **options)
    exact = population_gradient(attention, problem, route="enumeration", **options)
    assert found.risk.route == "closed form"
    assert np.allclose(found.gradient, exact.gradient, atol=1e-12)
    if missing == (1,):
        assert abs(found.gradient[0, 1]) > 0.1
    with float64():
        slopes = jax.jit(jax.grad(weight_risk("cos", loss, 6, 2)))(
            jnp.asarray(attention.sum(axis=0)), target_of(problem)
        )
    assert np.allclose(slopes, exact.gradient[0], atol=1e-12)

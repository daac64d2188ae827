"""Feed-forward learners: FFNN-1 on bits or on the output of frozen attention, many runs at once."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from paritylab.learning.descent import as_optimiser, descend
from paritylab.models import FeedForward
from paritylab.precision import float64
from paritylab.problem.sampling import as_key


class NetworkRuns(NamedTuple):
    """Squared-hinge risk and accuracy on the test rows, and ‖α‖·‖β‖, one entry per run."""

    risk: np.ndarray
    accuracy: np.ndarray
    norms: np.ndarray


def train_networks(
    features,
    labels,
    *,
    width: int,
    runs: int = 8,
    test: tuple | None = None,
    batch: int | None = None,
    optimiser: str = "adam",
    rate: float = 0.01,
    steps: int = 2000,
    missing: tuple[int, ...] = (),
    seed: int = 0,
) -> NetworkRuns:
    """Train FFNN-1 of `width` neurons from random starts on rows of features.

    batch: rows per step drawn at random, all of them if None. test: (features, labels) to be judged
    on, the training rows if None. missing: input positions without any edge.
    """
    features, labels = (np.asarray(a, dtype=np.float64) for a in (features, labels))
    if features.ndim != 2 or labels.shape != features.shape[:1]:
        raise ValueError(
            f"expected one row of features per label, got {features.shape} and {labels.shape}"
        )
    test = (features, labels) if test is None else tuple(np.asarray(a, np.float64) for a in test)
    keys = jax.random.split(as_key(seed), runs)
    with float64():
        start = [FeedForward.random(key, features.shape[1], width, missing=missing) for key in keys]
        parameters = jax.tree.map(lambda *a: np.stack(a), *(net.parameters() for net in start))
        results = _train_all(
            start[0],
            parameters,
            keys,
            (features, labels),
            test,
            (optimiser, np.float64(rate)),
            steps,
            batch,
        )
        return NetworkRuns(*map(np.asarray, results))


@eqx.filter_jit
def _train_all(net, parameters, keys, rows, test, optimiser_and_rate, steps, batch):
    optimiser = as_optimiser(*optimiser_and_rate)

    def risk(parameters, features, labels):
        predictions = jax.vmap(net.with_parameters(parameters))(features)
        return jnp.mean(jnp.maximum(0, 1 - labels * predictions) ** 2)

    def one(parameters, key):
        def step_risk(parameters, step_key):
            if batch is None:
                return risk(parameters, *rows)
            chosen = jax.random.randint(step_key, (batch,), 0, rows[1].shape[0])
            return risk(parameters, rows[0][chosen], rows[1][chosen])

        end = descend(step_risk, parameters, optimiser, steps=steps, every=steps, key=key)
        trained = net.with_parameters(end.parameters)
        right = jnp.mean(jax.vmap(trained)(test[0]) * test[1] > 0)
        norms = jnp.linalg.norm(trained.output) * jnp.linalg.norm(trained.hidden * net.edges)
        return risk(end.parameters, *test), right, norms

    return jax.vmap(one)(parameters, keys)


def linear_accuracy(features, labels, test: tuple, *, ridge: float = 1e-6) -> float:
    """Test accuracy of the least-squares linear classifier on given features."""
    features, labels = np.asarray(features, float), np.asarray(labels, float)
    gram = features.T @ features + ridge * len(features) * np.eye(features.shape[1])
    weights = np.linalg.solve(gram, features.T @ labels)
    return float(np.mean((np.asarray(test[0], float) @ weights) * test[1] > 0))

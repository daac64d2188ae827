"""The classifier keeps scikit-learn's contract, finds what was planted, and abstains otherwise."""

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.baselines.random_tables import planted

from paritylab.baselines import ParityClassifier

X, SIGNS, HIDDEN = planted(20, 3, 0.1, 600, seed=1)
Y = (SIGNS < 0).astype(int)

#: Numbers that the classifier cuts are announced; a test of its own checks that.
pytestmark = pytest.mark.filterwarnings("ignore:.*cut at the median:UserWarning")


# The budget keeps the checks short: most of their data hold no parity.
@parametrize_with_checks([ParityClassifier(budget=0.05)])
def test_scikit_learns_own_checks(estimator, check, monkeypatch):
    # Without it the check of array namespaces, here numpy's, is skipped.
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    check(estimator)


@pytest.fixture(scope="module")
def fitted():
    return ParityClassifier(random_state=0).fit(X, Y)


def test_what_was_planted_is_found_with_its_noise(fitted):
    assert tuple(fitted.subset_) == HIDDEN
    assert not fitted.abstained_
    assert fitted.noise_rate_ == pytest.approx(0.1, abs=0.03)
    assert fitted.confidence_ > 0.999
    assert fitted.answer_.subset == HIDDEN


def test_probabilities_are_calibrated_to_the_noise(fitted):
    chances = fitted.predict_proba(X)
    assert chances.sum(axis=1) == pytest.approx(np.ones(600))
    likely = chances.max(axis=1)
    right = fitted.predict(X) == Y
    assert likely.mean() == pytest.approx(right.mean(), abs=0.005)
    assert fitted.score(X, Y) == right.mean()


def test_nothing_there_predicts_the_majority():
    generator = np.random.default_rng(0)
    X, y = generator.integers(0, 2, (300, 15)), generator.random(300) < 0.3
    model = ParityClassifier(k=2).fit(X, y)
    assert model.abstained_
    assert model.subset_.size == 0
    assert not model.predict(X).any()
    assert model.predict_proba(X)[0, 1] == pytest.approx(y.mean())


BAD = {
    "one class": (ParityClassifier(), X, np.zeros(600), "one class"),
    "three classes": (ParityClassifier(), X, np.arange(600) % 3, "3 classes"),
    "k no whole number": (ParityClassifier(k=2.5), X, Y, "k must be"),
    "constant": (ParityClassifier(), np.ones((600, 3)), Y, "every column of X is constant"),
}


@pytest.mark.parametrize(("model", "X", "y", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_one_clear_error(model, X, y, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


@pytest.mark.parametrize("kind", [csr_matrix, csc_array])
def test_sparse_input_says_the_same_as_dense(fitted, kind):
    model = ParityClassifier(random_state=0).fit(kind(X), Y)
    assert model.subset_.tolist() == fitted.subset_.tolist()
    np.testing.assert_array_equal(model.predict_proba(kind(X)), fitted.predict_proba(X))
    np.testing.assert_array_equal(model.thresholds_, fitted.thresholds_)
    assert ParityClassifier(k=1).fit(kind(X), Y).predict(kind(X)).shape == (600,)


def test_frames_of_truth_and_of_text_through_an_encoder():
    pandas = pytest.importorskip("pandas")
    bits = np.random.default_rng(1).integers(0, 2, (300, 12))
    frame = pandas.DataFrame(bits.astype(bool), columns=[f"x{at}" for at in range(12)])
    frame["x1"] = pandas.array(bits[:, 1], "boolean")
    y = bits[:, 0] ^ bits[:, 1]
    model = ParityClassifier().fit(frame, y)
    assert list(model.feature_names_in_[model.subset_]) == ["x0", "x1"]
    frame["x0"] = pandas.Categorical(np.where(bits[:, 0], "yes", "no"))
    frame["x1"] = np.where(bits[:, 1], "right", "left")
    pipeline = make_pipeline(OrdinalEncoder(), ParityClassifier()).fit(frame, y)
    assert (pipeline.predict(frame) == y).all()
    with pytest.raises(ValueError, match="str"):
        ParityClassifier().fit(frame, y)


def test_sample_weights_make_a_sample_of_the_weighted_rows():
    generator = np.random.default_rng(5)
    X = generator.integers(0, 2, (1000, 8))
    first = np.arange(1000) < 500
    y = np.where(first, X[:, 1] ^ X[:, 3], X[:, 2] ^ X[:, 6])
    for own, hidden in ((first, [1, 3]), (~first, [2, 6])):
        model = ParityClassifier(random_state=0).fit(X, y, sample_weight=own.astype(float))
        assert model.subset_.tolist() == hidden
        assert model.answer_.rows == 500
    halves = ParityClassifier(random_state=0).fit(X, y, np.where(first, 1.0, 0.1))
    assert 500 < halves.answer_.rows < 600
    with pytest.raises(ValueError, match="at least one non-zero"):
        ParityClassifier().fit(X, y, np.zeros(1000))


@pytest.mark.filterwarnings("error")
def test_numbers_that_are_cut_are_announced():
    X = np.random.default_rng(0).normal(size=(100, 3))
    with pytest.warns(UserWarning, match="3 columns of numbers cut at the median"):
        ParityClassifier().fit(X, X[:, 0] > 0)


@pytest.mark.parametrize(
    ("odd", "even"), [(0.12, 0.02), (0.95, 0.3)], ids=["rare labels", "uneven noise"]
)
def test_the_two_sides_may_have_different_noise(odd, even):
    generator = np.random.default_rng(0)
    X = generator.integers(0, 2, (1500, 12))
    side = X[:, 1] ^ X[:, 4]
    y = generator.random(1500) < np.where(side, odd, even)
    model = ParityClassifier().fit(X, y)
    assert model.subset_.tolist() == [1, 4]
    chances = model.predict_proba(X)[:, 1]
    assert chances[side == 1].mean() == pytest.approx(odd, abs=0.03)
    assert chances[side == 0].mean() == pytest.approx(even, abs=0.03)

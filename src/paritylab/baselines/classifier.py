"""A scikit-learn classifier that predicts a parity of a few columns."""

import warnings
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from paritylab.baselines.solving import solve


class ParityClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Labels that are a parity of a few columns, up to noise.

    It is made for data in which nothing else acts on the label and rows are independent draws, as
    in the papers. Other effects in the same table (main effects, thresholds, noise that depends on
    a column, repeated or related rows) hide a parity, or look like one; this estimator does not
    claim to handle them.

    Columns become bits by a rule that does not look at y: of two values the larger is 1, of more
    values those above the median (above the next smaller value if the median is the maximum).
    Where no parity is supported at level alpha the classifier abstains: it predicts the majority
    class with its share. With sample weights each row is kept with probability proportional to its
    weight, so that the rows kept are a sample of the weighted rows.

    Parameters
    ----------
    k : int or None, default=None
        Number of columns in the parity; all sizes compete if None.
    method : str, default="auto"
        A name in `paritylab.baselines.METHODS`.
    alpha : float, default=0.01
        Probability of naming a parity where labels do not depend on the columns.
    budget : float or None, default=None
        Seconds of search, 30 if None.
    random_state : int, RandomState or None, default=None
        For searches that draw, and for sample weights.

    Attributes
    ----------
    subset_ : ndarray of column numbers, empty after an abstention
    sign_ : int, +1 if an odd number of ones means classes_[1]
    abstained_ : bool
    confidence_ : float, 1 - p-value, 0 after an abstention
    noise_rate_ : float, share of rows that do not fit
    thresholds_ : ndarray (n_features,), a value above is 1
    answer_ : Answer, all the evidence
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> X = np.random.default_rng(0).integers(0, 2, (200, 10))
    >>> y = X[:, 2] ^ X[:, 7]
    >>> model = ParityClassifier().fit(X, y)
    >>> model.subset_.tolist(), model.score(X, y)
    ([2, 7], 1.0)
    """

    def __init__(
        self,
        k: int | None = None,
        method: str = "auto",
        alpha: float = 0.01,
        budget: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.k = k
        self.method = method
        self.alpha = alpha
        self.budget = budget
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the parity.

        X: (N, n) numbers, sparse or not, or a data frame, N at least 2. y: two classes.
        sample_weight: (N,), 0 or more, all 1 if None. A column with more than two values is cut at
        its median, with a warning.
        """
        X, y = validate_data(self, X, y, accept_sparse="csc", ensure_min_samples=2)
        check_classification_targets(y)
        generator = check_random_state(self.random_state)
        weights, rows = _sample_rows(sample_weight, X, generator)
        self.classes_ = np.unique(y[weights > 0])
        codes = (y == self.classes_[-1]).astype(np.int8)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(y)}: {len(self.classes_)} classes, a parity has 2."
            )
        if len(self.classes_) < 2:
            raise ValueError(f"y needs two classes, got one class: {self.classes_[0]!r}")
        counts = np.bincount(codes, weights, minlength=2)
        X, codes = X[rows], codes[rows]
        self.thresholds_, bits, cut = _as_bits(X)
        if not (bits != bits[:1]).any():
            raise ValueError("every column of X is constant; nothing can explain y")
        if cut:
            warnings.warn(
                f"{cut} column{'s' * (cut > 1)} of numbers cut at the median; see thresholds_",
                stacklevel=2,
            )
        self.answer_ = solve(
            bits,
            codes,
            k=self.k,
            method=self.method,
            alpha=self.alpha,
            budget=self.budget,
            key=int(generator.randint(2**31 - 1)),
        )
        self.abstained_ = self.answer_.abstained
        self.subset_ = np.array(self.answer_.subset or (), dtype=np.intp)
        self.sign_ = int(self.answer_.sign)
        self.confidence_ = 0.0 if self.abstained_ else 1 - float(self.answer_.p_value)
        self.noise_rate_ = float(self.answer_.noise_rate)
        predicted = self._predict_bits(bits[:, self.subset_])
        self._chances = _class_chances(predicted, codes, counts / counts.sum())
        return self

    def _predict_bits(self, members: np.ndarray) -> np.ndarray:
        """1 where the parity of these bits of `subset_` says classes_[1]; 0 after an abstention."""
        odd = np.bitwise_xor.reduce(members, axis=1)
        return np.asarray(odd ^ np.uint8(self.sign_ < 0))

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        chances = self.predict_proba(X)
        return np.asarray(self.classes_[chances.argmax(axis=1)])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the two classes, (N, 2): the shares on either side of the parity.

        They are those of the training rows, with two rows added in the proportion of the classes,
        so that none is 0; after an abstention they are the shares of the classes.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csc", reset=False)
        members = X[:, self.subset_]
        members = np.asarray(members.toarray() if issparse(members) else members)
        bits = (members > self.thresholds_[self.subset_]).astype(np.uint8)
        return np.asarray(self._chances[self._predict_bits(bits)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        # After an abstention it predicts the majority class, however well another function would.
        tags.classifier_tags.poor_score = True
        return tags


def _class_chances(predicted: np.ndarray, codes: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Probabilities of the classes where the parity says the first, and where it says the second.

    Two rows are added to each side in the proportion of the classes; an empty side, as after an
    abstention, has that proportion.
    """
    if not predicted.any():
        return np.tile(shares, (2, 1))
    rows = np.bincount(predicted, minlength=2)
    second = np.bincount(predicted, weights=codes, minlength=2)
    chances = (second + 2 * shares[1]) / (rows + 2)
    return np.stack([1 - chances, chances], axis=1)


def _sample_rows(
    sample_weight: Any, X: Any, generator: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the rows, and the numbers of those kept: each with its weight over the largest as
    probability, so that equal weights keep all."""
    weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    rows = np.arange(len(weights))
    if sample_weight is not None:
        rows = rows[generator.random_sample(len(weights)) * weights.max() < weights]
    if len(rows) < 2:
        raise ValueError(f"the sample weights leave {len(rows)} rows; at least 2 are needed")
    return weights, rows


def _as_bits(X: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """Thresholds of the columns, their bits, one byte a cell also of a sparse matrix, and how many
    columns were cut at the median; of two values the threshold lies in the middle."""
    bits, thresholds, cut = np.empty(X.shape, np.uint8), np.empty(X.shape[1]), 0
    for at in range(X.shape[1]):
        column = _column(X, at)
        low, high = column.min(), column.max()
        if ((column == low) | (column == high)).all():
            thresholds[at] = float(low) / 2 + float(high) / 2
        else:
            thresholds[at] = median_threshold(column)
            cut += 1
        bits[:, at] = column > thresholds[at]
    return thresholds, bits, cut


def median_threshold(values: np.ndarray) -> float:
    """The median; if no value lies above it, the largest value below the maximum.

    >>> median_threshold(np.array([1.0, 2.0, 3.0])), median_threshold(np.array([0.0, 5.0, 5.0]))
    (2.0, 0.0)
    """
    median, highest = float(np.median(values)), values.max()
    if median < highest or (values == highest).all():
        return median
    return float(values[values < highest].max())


def _column(X: Any, at: int) -> np.ndarray:
    return np.asarray(X[:, [at]].toarray().ravel() if issparse(X) else X[:, at])

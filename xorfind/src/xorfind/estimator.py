"""A scikit-learn classifier that predicts a parity of a few columns, or knows that it cannot."""

import warnings
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from xorfind.answer import Target
from xorfind.table.prepare import MOST_FINER, finer_cuts, median_threshold
from xorfind.words import counted


class ParityClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The class is decided by whether an odd number of a few columns is set.

    Columns become bits by a rule that does not look at y: of two values the larger is 1, of more
    values those above the median (above the next smaller value if the median is the maximum).
    Sparse matrices are read as they are. Columns of text go through scikit-learn's OrdinalEncoder
    first, those of three levels or more through its OneHotEncoder.
    Where no parity explains the classes at level alpha, because none is supported or the best one
    is only related to them, the classifier abstains: it predicts the majority class with its share.
    Rows that depend on each other are looked for first, and evidence rests on those that do not.
    With sample weights each row stays with a chance in proportion to its weight, so that those that
    stay are a sample of the weighted rows and their evidence is what it says.

    k: number of columns, unknown if None. method: a name in `xorfind.METHODS`. alpha:
    chance of naming a parity where there is none. budget: seconds of search, the solver's own if
    None. random_state: for searches that draw.

    Fitted: `subset_` (column numbers, empty if it abstained), `sign_` (+1: an odd number of bits
    means classes_[1]), `confidence_` (1 - p-value, 0 if it abstained), `noise_rate_` (share of rows
    that do not fit), `abstained_`, `outcome_` (the answer with names, and in words), `thresholds_`,
    `answer_` (all the evidence), `classes_`, `n_features_in_` and `feature_names_in_`.

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
        """Find the parity. X: (N, n) numbers, sparse or not, or a data frame, N at least 2. y: two
        classes. sample_weight: (N,), 0 or more, all 1 if None.

        A column of numbers with more than two values is cut at its median, with a warning.
        """
        from xorfind.solvers.solving import solve

        X, y = validate_data(self, X, y, accept_sparse="csc", ensure_min_samples=2)
        check_classification_targets(y)
        generator = check_random_state(self.random_state)
        weights, stay = _sampled(sample_weight, X, generator)
        self.classes_ = np.unique(y[weights > 0])
        codes = (y == self.classes_[-1]).astype(np.int8)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(y)}: {len(self.classes_)} classes, a parity has 2."
            )
        if len(self.classes_) < 2:
            raise ValueError(f"y needs two classes, got one class: {self.classes_[0]!r}")
        self._counts = np.bincount(codes, weights, minlength=2)
        X, codes = X[stay], codes[stay]
        self.thresholds_, bits, cut = _as_bits(X)
        if not (bits != bits[:1]).any():
            raise ValueError("every column of X is constant; nothing can explain y")
        if cut:
            columns = counted(len(cut), "column")
            warnings.warn(f"{columns} of numbers cut at the median; see thresholds_", stacklevel=2)
        self.answer_ = solve(
            bits,
            codes,
            k=self.k,
            method=self.method,
            alpha=self.alpha,
            budget=self.budget,
            key=int(generator.randint(2**31 - 1)),
            rows="check",
            finer=finer_cuts((at, _column(X, at), self.thresholds_[at]) for at in cut[:MOST_FINER]),
        )
        return self._keep_answer()

    def _keep_answer(self) -> Self:
        answer, second = self.answer_, str(self.classes_[1])
        names = getattr(self, "feature_names_in_", [f"x{at}" for at in range(self.n_features_in_)])
        self.outcome_ = answer.named(
            lambda at: str(names[at]),
            Target(f"the class is {second}", f"the class tends to be {second}", "the class"),
        )
        self.abstained_ = answer.abstained
        self.subset_ = np.array(() if answer.abstained else answer.subset, dtype=np.intp)
        self.sign_ = int(answer.sign)
        self.confidence_ = 0.0 if answer.abstained else 1 - float(answer.p_value)
        self.noise_rate_ = float(answer.noise_rate)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row."""
        chances = self.predict_proba(X)
        return np.asarray(self.classes_[chances.argmax(axis=1)])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Chances of the two classes, (N, 2): the shares on either side of the parity.

        They are those of the training rows, with one row of either class added in the proportion of
        the classes, so that no chance is 0; abstaining, both chances are the shares of the classes.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csc", reset=False)
        members = X[:, self.subset_]
        members = np.asarray(members.toarray() if issparse(members) else members)
        shares = self._counts / self._counts.sum()
        if self.abstained_:
            return np.tile(shares, (len(members), 1))
        bits = (members > self.thresholds_[self.subset_]).astype(np.uint8)
        second = np.bitwise_xor.reduce(bits, axis=1) ^ (self.sign_ < 0)
        off, on = (
            (side.successes + 2 * shares[1]) / (side.runs + 2)
            for side in (self.answer_.off, self.answer_.on)
        )
        chance = np.where(second == 1, on, off)
        return np.stack([1 - chance, chance], axis=1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        # Abstaining, it predicts the majority class, however well another function would do.
        tags.classifier_tags.poor_score = True
        return tags


def _sampled(given: Any, X: Any, generator: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the rows, and which rows stay: each with the chance of its weight over the
    largest, so that equal weights keep all."""
    weights = _check_sample_weight(given, X, ensure_non_negative=True)
    stay = np.arange(len(weights))
    if given is not None:
        stay = stay[generator.random_sample(len(weights)) * weights.max() < weights]
    if len(stay) < 2:
        raise ValueError(f"the sample weights leave {len(stay)} rows; at least 2 are needed")
    return weights, stay


def _as_bits(X: Any) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Thresholds of the columns, their bits, one byte a cell also of a sparse matrix, and the
    columns that were cut at the median; of two values the threshold lies in the middle."""
    bits, thresholds, cut = np.empty(X.shape, np.uint8), np.empty(X.shape[1]), list[int]()
    for at in range(X.shape[1]):
        column = _column(X, at)
        low, high = column.min(), column.max()
        if ((column == low) | (column == high)).all():
            thresholds[at] = float(low) / 2 + float(high) / 2
        else:
            thresholds[at] = median_threshold(column)
            cut.append(at)
        bits[:, at] = column > thresholds[at]
    return thresholds, bits, cut


def _column(X: Any, at: int) -> np.ndarray:
    return np.asarray(X[:, [at]].toarray().ravel() if issparse(X) else X[:, at])

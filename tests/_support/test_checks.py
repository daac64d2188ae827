"""Bad arguments are refused in one short line."""

import math

import numpy as np
import pytest

from paritylab._support.checks import check_kind, shortened, whole


def test_values_are_shortened_to_one_line():
    assert "\n" not in shortened(np.full((2, 6), math.nan))
    assert len(shortened("x" * 1000)) == 200
    assert whole("n", np.int64(3), 1, 5) == 3
    for value, wanted in ((0, "at least 1"), (6, "at most 5"), (True, "whole"), (2.0, "whole")):
        with pytest.raises(ValueError, match=wanted):
            whole("n", value, 1, 5)
    with pytest.raises(ValueError, match="x must be text, got 3"):
        check_kind("x", 3, str, "text")

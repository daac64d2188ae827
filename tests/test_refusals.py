"""Bad arguments are refused in one short line."""

import math

import numpy as np
import pytest

import paritylab as pl
from paritylab.checks import check_kind, shortened, whole
from paritylab.claims import claims_from_file


def test_a_claim_that_raises_anything_but_an_interrupt_is_a_failed_row(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import paritylab as pl\n"
        "class Odd(BaseException): pass\n"
        '@pl.claim("odd")\n'
        "def odd(trial):\n"
        "    'A title.\\n\\nA statement.'\n"
        "    raise Odd('x')\n"
    )
    (verdict,) = pl.check(claims_from_file(file).values(), effort="quick")
    assert verdict.row["status"] == "failed"
    file.write_text("raise GeneratorExit\n")
    with pytest.raises(ValueError, match="GeneratorExit"):
        claims_from_file(file)


def test_values_are_shortened_to_one_line():
    assert "\n" not in shortened(np.full((2, 6), math.nan))
    assert len(shortened("x" * 1000)) == 200
    assert whole("n", np.int64(3), 1, 5) == 3
    for value, wanted in ((0, "at least 1"), (6, "at most 5"), (True, "whole"), (2.0, "whole")):
        with pytest.raises(ValueError, match=wanted):
            whole("n", value, 1, 5)
    with pytest.raises(ValueError, match="x must be text, got 3"):
        check_kind("x", 3, str, "text")

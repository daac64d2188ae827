"""What tests of sweeps share: a learner that costs nothing."""

from pathlib import Path

import pytest

from paritylab.learning import LEARNERS
from paritylab.sweep.blocks import learners_from_file


@pytest.fixture(scope="module")
def coin():
    """The learner of coin.py, registered as a user's file would be."""
    if "coin" not in LEARNERS:
        learners_from_file(Path(__file__).with_name("coin.py"))
    yield
    LEARNERS.pop("coin", None)

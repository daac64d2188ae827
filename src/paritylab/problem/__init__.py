"""What is to be learnt: parities, label noise, input distributions, batches of samples."""

from paritylab.problem.bits import as_bits, bits_from_signs, signs_from_bits
from paritylab.problem.parity import Parity, random_parity
from paritylab.problem.sampling import all_bits, batches, sample

__all__ = [
    "Parity",
    "all_bits",
    "as_bits",
    "batches",
    "bits_from_signs",
    "random_parity",
    "sample",
    "signs_from_bits",
]

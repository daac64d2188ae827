"""What is to be learnt: parities, juntas, chains of thought, noise, inputs, batches of samples."""

from paritylab.problem.corruption import Corruption
from paritylab.problem.hidden_set import as_bits, bits_from_signs, signs_from_bits
from paritylab.problem.junta import Junta, random_junta
from paritylab.problem.losses import LOSSES, Loss, as_loss, register_loss
from paritylab.problem.parity import (
    Parity,
    random_parities,
    random_parity,
    sets_up_to_symmetry,
)
from paritylab.problem.sampling import all_bits, batches, sample
from paritylab.problem.tree import ParityTree, random_tree, random_trees

__all__ = [
    "LOSSES",
    "Corruption",
    "Junta",
    "Loss",
    "Parity",
    "ParityTree",
    "all_bits",
    "as_bits",
    "as_loss",
    "batches",
    "bits_from_signs",
    "random_junta",
    "random_parities",
    "random_parity",
    "random_tree",
    "random_trees",
    "register_loss",
    "sample",
    "sets_up_to_symmetry",
    "signs_from_bits",
]

"""What learns: k-head attention, its full 4×4 form, feed-forward nets, exact constructions."""

from paritylab.models.attention import hard_attention, softmax_attention, tied_positions
from paritylab.models.constructions import parity_network, parity_transformer
from paritylab.models.feedforward import FeedForward
from paritylab.models.full_form import FullFormAttention
from paritylab.models.heads import HeadAttention, WeightedReadout, weights_of
from paritylab.models.joint import JointAttention
from paritylab.models.positions import Circle, OneHot, RandomSigns
from paritylab.models.readouts import Cosine, Zigzag, as_readout, smooth_relu

__all__ = [
    "Circle",
    "Cosine",
    "FeedForward",
    "FullFormAttention",
    "HeadAttention",
    "JointAttention",
    "OneHot",
    "RandomSigns",
    "WeightedReadout",
    "Zigzag",
    "as_readout",
    "hard_attention",
    "parity_network",
    "parity_transformer",
    "smooth_relu",
    "softmax_attention",
    "tied_positions",
    "weights_of",
]

"""What learns: k-head and two-head attention, feed-forward nets, exact constructions."""

from paritylab.models.attention import (
    ATTENTION,
    attend,
    hard_attention,
    softmax_attention,
    tied_positions,
)
from paritylab.models.constructions import parity_network, parity_transformer
from paritylab.models.feedforward import FeedForward
from paritylab.models.full_form import FullFormAttention
from paritylab.models.heads import HeadAttention, WeightedReadout, weights_of
from paritylab.models.joint import JointAttention
from paritylab.models.positions import Circle, OneHot, RandomSigns, Sphere, draw_positions
from paritylab.models.readouts import (
    XOR_READOUTS,
    Bowl,
    Cosine,
    Tent,
    Zigzag,
    as_readout,
    smooth_relu,
)
from paritylab.models.two_heads import TwoHeads

__all__ = [
    "ATTENTION",
    "XOR_READOUTS",
    "Bowl",
    "Circle",
    "Cosine",
    "FeedForward",
    "FullFormAttention",
    "HeadAttention",
    "JointAttention",
    "OneHot",
    "RandomSigns",
    "Sphere",
    "Tent",
    "TwoHeads",
    "WeightedReadout",
    "Zigzag",
    "as_readout",
    "attend",
    "draw_positions",
    "hard_attention",
    "parity_network",
    "parity_transformer",
    "smooth_relu",
    "softmax_attention",
    "tied_positions",
    "weights_of",
]

"""What learns: k-head, two-head and chain attention, feed-forward nets, exact constructions."""

from paritylab.models.attention import (
    ATTENTION,
    attend,
    hard_attention,
    softmax_attention,
    tied_positions,
)
from paritylab.models.chain import ChainModel
from paritylab.models.constructions import parity_network, parity_transformer
from paritylab.models.feedforward import FeedForward
from paritylab.models.full_form import FullFormAttention
from paritylab.models.heads import HeadAttention, WeightedReadout, weights_of
from paritylab.models.joint import JointAttention
from paritylab.models.links import LINKS, AbstractLink, CosineLink, SlopedLink, as_link
from paritylab.models.positions import Circle, OneHot, RandomSigns, Sphere, draw_positions
from paritylab.models.readouts import (
    XOR_READOUTS,
    Bowl,
    Cosine,
    PiecewiseLinear,
    Tent,
    Zigzag,
    as_readout,
    smooth_relu,
)
from paritylab.models.two_heads import TwoHeads

__all__ = [
    "ATTENTION",
    "LINKS",
    "XOR_READOUTS",
    "AbstractLink",
    "Bowl",
    "ChainModel",
    "Circle",
    "Cosine",
    "CosineLink",
    "FeedForward",
    "FullFormAttention",
    "HeadAttention",
    "JointAttention",
    "OneHot",
    "PiecewiseLinear",
    "RandomSigns",
    "SlopedLink",
    "Sphere",
    "Tent",
    "TwoHeads",
    "WeightedReadout",
    "Zigzag",
    "as_link",
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

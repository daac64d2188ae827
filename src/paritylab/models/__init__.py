"""What learns: k-head, two-head and chain attention, feed-forward nets, exact constructions."""

from paritylab.models.attention import (
    ATTENTION,
    as_attention,
    attend,
    hard_attention,
    softmax_attention,
    tied_positions,
)
from paritylab.models.chain import ChainModel
from paritylab.models.constructions import (
    interpolating_network,
    parity_network,
    parity_transformer,
    tied_network,
)
from paritylab.models.feedforward import FeedForward
from paritylab.models.full_form import FullFormAttention
from paritylab.models.full_parity import CountingTransformer
from paritylab.models.heads import HeadAttention, WeightedReadout, weights_of
from paritylab.models.joint import FrozenHeads, JointAttention
from paritylab.models.layered import LayeredChain
from paritylab.models.links import LINKS, AbstractLink, CosineLink, SlopedLink, as_link
from paritylab.models.packed import PackedSigns
from paritylab.models.positions import (
    AbstractPositionCode,
    Circle,
    OneHot,
    Positions,
    PositionTable,
    RandomSigns,
    Sphere,
    as_code,
    is_drawn,
)
from paritylab.models.protocol import Model, check_model, parameters_of, with_parameters
from paritylab.models.readouts import (
    XOR_READOUTS,
    Bowl,
    Cosine,
    PiecewiseLinear,
    Tent,
    Zigzag,
    as_readout,
    default_readout,
    smooth_relu,
)
from paritylab.models.transformer import AbstractPlaces, Decoder
from paritylab.models.two_heads import TwoHeads

__all__ = [
    "ATTENTION",
    "LINKS",
    "XOR_READOUTS",
    "AbstractLink",
    "AbstractPlaces",
    "AbstractPositionCode",
    "Bowl",
    "ChainModel",
    "Circle",
    "Cosine",
    "CosineLink",
    "CountingTransformer",
    "Decoder",
    "FeedForward",
    "FrozenHeads",
    "FullFormAttention",
    "HeadAttention",
    "JointAttention",
    "LayeredChain",
    "Model",
    "OneHot",
    "PackedSigns",
    "PiecewiseLinear",
    "PositionTable",
    "Positions",
    "RandomSigns",
    "SlopedLink",
    "Sphere",
    "Tent",
    "TwoHeads",
    "WeightedReadout",
    "Zigzag",
    "as_attention",
    "as_code",
    "as_link",
    "as_readout",
    "attend",
    "check_model",
    "default_readout",
    "hard_attention",
    "interpolating_network",
    "is_drawn",
    "parameters_of",
    "parity_network",
    "parity_transformer",
    "smooth_relu",
    "softmax_attention",
    "tied_network",
    "tied_positions",
    "weights_of",
    "with_parameters",
]

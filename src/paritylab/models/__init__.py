"""What learns: k-head, two-head and chain attention, feed-forward nets, exact constructions."""

from paritylab.models.attention import (
    ATTENTION as ATTENTION,
    HeadAttention as HeadAttention,
    TwoHeads as TwoHeads,
    WeightedReadout as WeightedReadout,
    as_attention as as_attention,
    attend as attend,
    softmax_attention as softmax_attention,
)
from paritylab.models.chain import ChainModel as ChainModel, LayeredChain as LayeredChain
from paritylab.models.constructions import (
    CountingTransformer as CountingTransformer,
    interpolating_network as interpolating_network,
    parity_network as parity_network,
    parity_transformer as parity_transformer,
    tied_network as tied_network,
)
from paritylab.models.feedforward import FeedForward as FeedForward
from paritylab.models.full_form import (
    FrozenHeads as FrozenHeads,
    FullFormAttention as FullFormAttention,
)
from paritylab.models.links import (
    LINKS as LINKS,
    AbstractLink as AbstractLink,
    CosineLink as CosineLink,
    SlopedLink as SlopedLink,
    as_link as as_link,
)
from paritylab.models.positions import (
    AbstractPositionCode as AbstractPositionCode,
    Circle as Circle,
    OneHot as OneHot,
    PackedSigns as PackedSigns,
    PositionTable as PositionTable,
    RandomSigns as RandomSigns,
    as_code as as_code,
    is_drawn as is_drawn,
)
from paritylab.models.protocol import (
    Model as Model,
)
from paritylab.models.readouts import (
    Bowl as Bowl,
    Cosine as Cosine,
    PiecewiseLinear as PiecewiseLinear,
    Zigzag as Zigzag,
    as_readout as as_readout,
    default_readout as default_readout,
    smooth_relu as smooth_relu,
)
from paritylab.models.transformer import AbstractPlaces as AbstractPlaces, Decoder as Decoder

"""Names of paritylab.figures; `__init__.py` loads them from here on first use."""

from .charts import (
    Bars as Bars,
    Heatmap as Heatmap,
    Line as Line,
    Lines as Lines,
    Mark as Mark,
    SideBySide as SideBySide,
)
from .drawing import (
    Series as Series,
    draw as draw,
    paint as paint,
    panels_of as panels_of,
    styled as styled,
)
from .export import (
    describe as describe,
    figure_format as figure_format,
    has_figure as has_figure,
    panels as panels,
    save_figure as save_figure,
    svg as svg,
)

"""How figures look: one style, scales with ticks that do not collide, charts, their outputs."""

from paritylab.report.drawing.canvas import Canvas
from paritylab.report.drawing.charts import CHARTS, draw
from paritylab.report.drawing.words import describe

__all__ = ["CHARTS", "Canvas", "describe", "draw"]

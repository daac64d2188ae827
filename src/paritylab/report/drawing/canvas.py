"""A canvas keeps shapes; it is written as SVG with CSS colours, or painted by matplotlib."""

import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from paritylab.report.drawing.style import PENS, WORDS, pens_css, theme, variables

Point = tuple[float, float]


class Shape(NamedTuple):
    """points: of an open or closed outline. pen: its classes, such as "curve c0"."""

    points: Sequence[Point]
    pen: str
    closed: bool = False


class Disc(NamedTuple):
    """A circle."""

    centre: Point
    radius: float
    pen: str


class Text(NamedTuple):
    """Words at a point; anchor: start, middle or end."""

    at: Point
    words: str
    kind: str
    anchor: str = "start"


@dataclass
class Canvas:
    """Shapes in the order they are drawn, in pixels from the top left."""

    width: float
    height: float
    shapes: list[Shape | Disc | Text] = field(default_factory=list)

    def line(self, points: Iterable[Point], pen: str) -> None:
        self.shapes.append(Shape(list(points), pen))

    def area(self, points: Iterable[Point], pen: str) -> None:
        self.shapes.append(Shape(list(points), pen, closed=True))

    def box(self, x: float, y: float, width: float, height: float, pen: str) -> None:
        corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
        self.area(corners, pen)

    def disc(self, x: float, y: float, radius: float, pen: str) -> None:
        self.shapes.append(Disc((x, y), radius, pen))

    def text(self, x: float, y: float, words: str, kind: str, anchor: str = "start") -> None:
        self.shapes.append(Text((x, y), words, kind, anchor))

    def put(self, other: "Canvas", x: float, y: float) -> None:
        """Everything of another canvas, shifted."""
        for shape in other.shapes:
            if isinstance(shape, Shape):
                moved = [(a + x, b + y) for a, b in shape.points]
                self.shapes.append(shape._replace(points=moved))
            elif isinstance(shape, Disc):
                a, b = shape.centre
                self.shapes.append(shape._replace(centre=(a + x, b + y)))
            else:
                self.shapes.append(shape._replace(at=(shape.at[0] + x, shape.at[1] + y)))

    def svg(self, label: str, own_colours: bool = False) -> str:
        """An SVG element; with its own colours it stands alone, else the page has them."""
        body = "".join(_joined(self.shapes))
        style = f"<style>{_own_style()}</style>" if own_colours else ""
        paper = '<rect width="100%" height="100%" fill="var(--back)"/>' if own_colours else ""
        size = f"{self.width:g} {self.height:g}"
        wide = f' width="{self.width:g}" height="{self.height:g}"' if own_colours else ""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="fig"{wide} viewBox="0 0 {size}" '
            f'role="img" aria-label={quoteattr(printable(label))}>{style}{paper}{body}</svg>'
        )

    def painted(self, kind: str) -> bytes:
        """The canvas as a pdf or png file, painted by matplotlib in the light colours."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(self.width / 72, self.height / 72))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, self.width), ylim=(self.height, 0))
        axes.axis("off")
        colours = theme("light")
        for shape in self.shapes:
            _paint(axes, shape, colours)
        buffer, metadata = io.BytesIO(), {"pdf": {"CreationDate": None}, "png": {}}[kind]
        figure.savefig(buffer, format=kind, dpi=200, metadata=metadata)
        return buffer.getvalue()


def _own_style() -> str:
    return (
        f":root{{{variables('light')}}}@media(prefers-color-scheme:dark){{:root{{"
        f"{variables('dark')}}}}}{pens_css()}"
    )


def _joined(shapes: Iterable[Shape | Disc | Text]) -> Iterable[str]:
    """Elements of SVG; neighbouring outlines of one pen become one path."""
    pen, data = "", ""
    for shape in shapes:
        if isinstance(shape, Shape):
            if shape.pen != pen and data:
                yield f'<path class="{pen}" d="{data}"/>'
                data = ""
            pen, data = shape.pen, data + _path(shape)
            continue
        if data:
            yield f'<path class="{pen}" d="{data}"/>'
            pen, data = "", ""
        yield _round(shape) if isinstance(shape, Disc) else _words(shape)
    if data:
        yield f'<path class="{pen}" d="{data}"/>'


def _path(shape: Shape) -> str:
    points = [f"{_short(x)} {_short(y)}" for x, y in shape.points]
    return "M" + "L".join(points) + ("z" if shape.closed else "")


def _round(disc: Disc) -> str:
    x, y = disc.centre
    return f'<circle class="{disc.pen}" cx="{_short(x)}" cy="{_short(y)}" r="{disc.radius:g}"/>'


def _words(text: Text) -> str:
    x, y = text.at
    anchor = "" if text.anchor == "start" else f' text-anchor="{text.anchor}"'
    place = f'x="{_short(x)}" y="{_short(y)}"'
    return f'<text class="{text.kind}" {place}{anchor}>{escape(printable(text.words))}</text>'


def printable(words: str) -> str:
    """Words without control characters, which an SVG file may not hold."""
    return "".join(c if c.isprintable() or c == "\u00a0" else "\ufffd" for c in words)


def _short(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"a place on a canvas is a finite number, got {value}")
    return f"{value:.1f}".removesuffix(".0")


def _paint(axes: Any, shape: Shape | Disc | Text, colours: dict[str, str]) -> None:
    from matplotlib.patches import Circle, Polygon

    if isinstance(shape, Text):
        size, colour = WORDS[shape.kind]
        side = {"start": "left", "middle": "center", "end": "right"}[shape.anchor]
        style = {"fontsize": size * 0.92, "color": colours[colour], "ha": side}
        words = printable(shape.words)
        axes.text(*shape.at, words, va="baseline", parse_math=False, **style)
        return
    name, *own = shape.pen.split()
    pen = PENS[name]
    named = {**colours, "own": colours[own[0]] if own else colours["ink"], "none": "none"}
    if isinstance(shape, Shape) and not shape.closed:
        x, y = zip(*shape.points, strict=True)
        axes.plot(x, y, color=named[pen.stroke], linewidth=pen.width, **_dashes(pen.dash))
        return
    look: dict[str, Any] = {
        "facecolor": named[pen.fill],
        "edgecolor": named[pen.stroke],
        "alpha": pen.opacity,
    }
    if isinstance(shape, Disc):
        axes.add_patch(Circle(shape.centre, shape.radius, linewidth=pen.width, **look))
    else:
        width = pen.width if pen.stroke != "none" else 0
        axes.add_patch(Polygon(shape.points, linewidth=width, **look))


def _dashes(dash: str) -> dict[str, Any]:
    return {"dashes": [float(part) for part in dash.split()]} if dash else {}

/** Paints the landscape on a canvas: bands of risk in basin colours, contours, traps, dots. */

const LEVELS = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.25, 2.5];
/** Hues of basins that are not the wanted one; the wanted one has a hue of its own. */
const HUES = ["--h1", "--h3", "--h5", "--h4"];
const FOUND = "--h2";
/** The map begins half a cell before position 0, so that no cell is cut. */
const SHIFT = 1 / 16;
/** Space for the names of positions, in pixels of the canvas. */
const EDGE = 56;

/** A CSS colour of the page as [r, g, b]. */
function colourOf(name) {
  const text = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
}

/** Where an angle lies along a side, from 0 to 1. */
function placed(angle) {
  return (angle / (2 * Math.PI) + SHIFT) % 1;
}

function hueOf(basin, wanted) {
  if (basin === wanted) return FOUND;
  const [p, q] = basin.split(",").map(Number);
  return HUES[(p + 2 * q) % HUES.length];
}

/** risks, traps, basins: (size²,), the first angle across and the second up. */
export function paintMap(canvas, { size, risks, traps, basins, dots, marks, wanted }) {
  const context = canvas.getContext("2d");
  const side = canvas.width - EDGE;
  const colours = Object.fromEntries(
    [...HUES, FOUND, "--panel", "--ink", "--soft", "--lit"].map((name) => [name, colourOf(name)]),
  );
  const css = (name, alpha = 1) => `rgb(${colours[name].join(" ")} / ${alpha})`;
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.save();
  context.translate(EDGE, 0);
  paintBands(context, { size, side, risks, basins, wanted, colours });
  context.strokeStyle = css("--ink", 0.22);
  context.lineWidth = 1.2;
  for (const level of LEVELS) trace(context, size, side, (at) => risks[at] - level);
  if (traps) {
    context.strokeStyle = css("--ink");
    context.lineWidth = 4;
    trace(context, size, side, (at) => traps[at]);
  }
  paintDots(context, { side, dots, wanted, css });
  context.restore();
  paintMarks(context, { side, marks, css, height: canvas.height });
}

/** Bands of equal risk: dark is low; the hue is the basin's where it is known. */
function paintBands(context, { size, side, risks, basins, wanted, colours }) {
  const image = new ImageData(size, size);
  const back = colours["--panel"];
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < size; j++) {
      const at = i * size + j;
      const band = Math.max(0, 1 - Math.floor(risks[at] * 4) / 11);
      const hue = colours[basins ? hueOf(basins[at], wanted) : "--soft"];
      const strength = (basins ? 0.16 : 0.08) + (basins ? 0.62 : 0.5) * band;
      const pixel = 4 * ((size - 1 - j) * size + i);
      for (let c = 0; c < 3; c++) image.data[pixel + c] = back[c] + strength * (hue[c] - back[c]);
      image.data[pixel + 3] = 255;
    }
  }
  const small = new OffscreenCanvas(size, size);
  small.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingEnabled = true;
  // Entry (i, j) is the risk at angle i/size, so a pixel's middle lies on a whole step.
  const half = side / size / 2;
  const shift = SHIFT * side;
  context.save();
  context.beginPath();
  context.rect(0, 0, side, side);
  context.clip();
  for (const x of [shift - half, shift - half - side]) {
    for (const y of [half - shift, half - shift + side]) context.drawImage(small, x, y, side, side);
  }
  context.restore();
}

/** The line on which a function of the entries is 0, by straight lines inside every square. */
function trace(context, size, side, value) {
  const unit = side / size;
  const first = -SHIFT * size; // a whole number of squares
  const entry = (at) => (at + size) % size;
  const line = ([x, y]) => [(x - first) * unit, side - (y - first) * unit];
  context.beginPath();
  for (let i = first; i < size + first; i++) {
    for (let j = first; j < size + first; j++) {
      const corners = [
        [i, j],
        [i + 1, j],
        [i + 1, j + 1],
        [i, j + 1],
      ];
      const values = corners.map(([x, y]) => value(entry(x) * size + entry(y)));
      const points = [];
      for (let edge = 0; edge < 4; edge++) {
        const [a, b] = [values[edge], values[(edge + 1) % 4]];
        if (a > 0 === b > 0) continue;
        const [from, to] = [corners[edge], corners[(edge + 1) % 4]];
        const part = a / (a - b);
        points.push([from[0] + part * (to[0] - from[0]), from[1] + part * (to[1] - from[1])]);
      }
      for (let at = 0; at + 1 < points.length; at += 2) {
        context.moveTo(...line(points[at]));
        context.lineTo(...line(points[at + 1]));
      }
    }
  }
  context.stroke();
}

function paintDots(context, { side, dots, wanted, css }) {
  context.lineWidth = 1.5;
  context.strokeStyle = css("--panel");
  for (const {
    at: [across, up],
    basin,
  } of dots) {
    context.beginPath();
    const [x, y] = [placed(across) * side, (1 - placed(up)) * side];
    // Found ones are also larger: colour is not the only difference.
    context.arc(x, y, basin === wanted ? 9 : 6, 0, 2 * Math.PI);
    context.fillStyle = css(hueOf(basin, wanted));
    context.fill();
    context.stroke();
  }
}

/** The names of positions below and at the left. */
function paintMarks(context, { side, marks, css, height }) {
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const { name, at, lit } of marks) {
    context.font = `${lit ? 700 : 400} 26px system-ui, sans-serif`;
    context.fillStyle = css(lit ? "--lit" : "--soft");
    const place = (at + SHIFT) * side;
    context.fillText(name, EDGE + place, height - EDGE / 2);
    context.fillText(name, EDGE / 2, side - place);
  }
}

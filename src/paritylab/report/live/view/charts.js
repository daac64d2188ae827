/** Pictures made of numbers: lines over steps, bars over positions, heat maps. */

import { digits, picture, setLength, svg } from "./dom.js";

const FRAME = { left: 46, right: 12, top: 24, bottom: 24 };

/** A scale from [low, high] to [from, to]; log: by powers of ten. */
function scale(low, high, from, to, log = false) {
  const turn = log ? (value) => Math.log10(Math.max(value, low)) : (value) => value;
  const [a, b] = [turn(low), turn(high)];
  return (value) => from + ((turn(value) - a) / (b - a || 1)) * (to - from);
}

/** Few round numbers between low and high. */
function ticksOf(low, high, log) {
  if (log) {
    const [first, last] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
    const stride = Math.max(1, Math.ceil((last - first) / 3));
    const found = [];
    for (let power = first; power <= last; power += stride) found.push(10 ** power);
    return found;
  }
  const raw = (high - low) / 4 || 1;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * unit).find((each) => each >= raw);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + 1e-9; value += step) {
    found.push(Number(value.toPrecision(12)));
  }
  return found;
}

/**
 * Lines over a shared axis. lines: [{x, y, className, name}], a name stands at the end of its line.
 * levels: [{y, name, early}] dashed, named at their end, or at their beginning if early.
 *
 * x, y: {low, high, log, name}. Returns a picture with `mark(x)` that moves a cursor.
 */
export function lineChart({ width = 420, height = 130, title, x, y, lines, levels = [] }) {
  const { left, right, top, bottom } = FRAME;
  const across = scale(x.low, x.high, left, width - right, x.log);
  const up = scale(y.low, y.high, height - bottom, top, y.log);
  const clip = (value) => Math.min(Math.max(value, y.low), y.high);
  const parts = [svg("text", { class: "title", x: left, y: 14 }, title)];
  for (const value of ticksOf(y.low, y.high, y.log)) {
    const at = up(value);
    parts.push(
      svg("line", { class: "grid", x1: left, x2: width - right, y1: at, y2: at }),
      svg("text", { class: "tick", x: left - 5, y: at + 4, "text-anchor": "end" }, digits(value)),
    );
  }
  for (const value of ticksOf(x.low, x.high, x.log)) {
    const place = { class: "tick", x: across(value), y: height - 8, "text-anchor": "middle" };
    parts.push(svg("text", place, digits(value)));
  }
  if (x.name) {
    const place = { class: "tick axis", x: width - right, y: 14, "text-anchor": "end" };
    parts.push(svg("text", place, x.name));
  }
  for (const { y: level, name, early } of levels) {
    if (level < y.low || level > y.high) continue;
    const at = up(level);
    const end = early ? { x: left + 5 } : { x: width - right - 5, "text-anchor": "end" };
    parts.push(
      svg("line", { class: "level", x1: left, x2: width - right, y1: at, y2: at }),
      svg("text", { class: "tick", y: at - 4, ...end }, name),
    );
  }
  for (const { x: xs, y: ys, className } of lines) {
    const points = xs.map(
      (value, i) => `${across(value).toFixed(1)},${up(clip(ys[i])).toFixed(1)}`,
    );
    parts.push(svg("polyline", { class: `line ${className}`, points: points.join(" ") }));
  }
  const named = lines.filter((line) => line.name);
  const ends = named.map(({ y: ys, name }) => ({ name, at: up(clip(ys[ys.length - 1])) - 6 }));
  parts.push(...endLabels(ends, width - right - 5));
  const cursor = svg("line", { class: "cursor", y1: top, y2: height - bottom, x1: -9, x2: -9 });
  const node = picture(width, height, title, ...parts, cursor);
  node.mark = (value) => {
    cursor.setAttribute("x1", across(value));
    cursor.setAttribute("x2", across(value));
  };
  return node;
}

/** Names at the ends of lines, moved apart where they would overlap. */
function endLabels(ends, x) {
  let above = -Infinity;
  return ends
    .sort((a, b) => a.at - b.at)
    .map(({ name, at }) => {
      above = Math.max(at, above + 13);
      return svg("text", { class: "tick", x, y: above, "text-anchor": "end" }, name);
    });
}

/** One bar per position, from 0 up or down; flags: 1 where a bar belongs to the hidden set. */
export function barChart({ width = 420, height = 110, title, values, flags, most, least = 0 }) {
  const { left, right, top, bottom } = FRAME;
  const up = scale(least, most, height - bottom, top);
  const slot = (width - left - right) / values.length;
  const parts = [svg("text", { class: "title", x: left, y: 14 }, title)];
  for (const value of ticksOf(least, most, false)) {
    const at = up(value);
    parts.push(
      svg("line", { class: "grid", x1: left, x2: width - right, y1: at, y2: at }),
      svg("text", { class: "tick", x: left - 5, y: at + 4, "text-anchor": "end" }, digits(value)),
    );
  }
  const clip = (value) => Math.min(Math.max(value, least), most);
  const stride = Math.ceil(values.length / 24);
  const bars = Array.from(values, (_, j) => {
    if (j % stride === 0 || (flags[j] && stride === 1)) {
      const place = { x: left + slot * (j + 0.5), y: height - 8, "text-anchor": "middle" };
      parts.push(svg("text", { class: flags[j] ? "tick lit" : "tick", ...place }, String(j)));
    }
    return svg("rect", {
      class: flags[j] ? "bar lit" : "bar",
      x: left + slot * (j + 0.12),
      width: Math.max(slot * 0.76, 0.6),
    });
  });
  const node = picture(width, height, title, ...parts, ...bars);
  node.show = (next) => {
    bars.forEach((bar, j) => {
      const [from, to] = [up(0), up(clip(next[j]))];
      setLength(bar, "y", Math.min(from, to));
      setLength(bar, "height", Math.max(Math.abs(from - to), 0.5));
    });
  };
  node.show(values);
  return node;
}

/**
 * Columns of numbers as colours: rows are nodes, columns tokens; marked: cells with a frame.
 *
 * A cell's strength is its share of the largest size; negative numbers are drawn in another hue.
 */
export function heatMap({ title, columns, tokens, rows, marked, label }) {
  const cell = Math.min(16, 400 / tokens);
  const [left, top] = [46, 24];
  const largest = Math.max(1e-12, ...columns.flatMap((column) => Array.from(column, Math.abs)));
  const parts = [svg("text", { class: "title", x: left, y: 14 }, title)];
  columns.forEach((column, row) => {
    const y = top + row * cell;
    parts.push(
      svg("text", { class: "tick", x: left - 5, y: y + cell - 3, "text-anchor": "end" }, rows[row]),
    );
    for (let j = 0; j < tokens; j++) {
      const seen = j < column.length;
      const strength = seen ? Math.abs(column[j]) / largest : 0;
      const shade = seen ? (column[j] < 0 ? "cell minus" : "cell plus") : "cell blind";
      const box = { x: left + j * cell, y, width: cell - 1, height: cell - 1 };
      const paint = seen ? { "fill-opacity": (0.06 + 0.94 * strength).toFixed(3) } : {};
      parts.push(svg("rect", { class: shade, ...box, ...paint }));
      if (marked(row, j)) parts.push(svg("rect", { class: "frame", ...box }));
    }
  });
  return picture(
    Math.max(420, left + tokens * cell + 8),
    top + columns.length * cell + 6,
    label,
    ...parts,
  );
}

/**
 * The circle: n positions, hidden ones lit, one arrow per head.
 *
 * The faint lines are the heads' whole way: time runs from the centre to the rim, the angle is
 * where a head looks, so that a finished run is a picture of its own.
 */

import { picture, setLength, svg } from "./dom.js";

const SIZE = 440;
const CENTRE = SIZE / 2;
const RIM = 186;

/** A point at an angle (clockwise from the top) and a share of the rim's radius. */
function point(angle, radius) {
  return [CENTRE + RIM * radius * Math.sin(angle), CENTRE - RIM * radius * Math.cos(angle)];
}

/** How far out the arrow is after this share of the run. */
function reach(time) {
  return 0.12 + 0.76 * time;
}

/**
 * Draws n positions with flags (1: hidden). ontoggle(j): a position was chosen by mouse or key.
 *
 * Returns a picture with `paths(frames)` for the whole way and `show(frame, time)` for one moment.
 */
export function circlePicture({ n, flags, ontoggle = null }) {
  const dot = Math.max(2.2, Math.min(9, (0.7 * Math.PI * RIM) / n));
  const rim = svg("circle", { class: "rim", cx: CENTRE, cy: CENTRE, r: RIM });
  const way = svg("g");
  const arrows = svg("g");
  const spots = Array.from({ length: n }, (_, j) => {
    const [cx, cy] = point((2 * Math.PI * j) / n, 1);
    const spot = svg("circle", { class: flags[j] ? "spot lit" : "spot", cx, cy, r: dot });
    if (ontoggle) spot.addEventListener("click", () => ontoggle(j));
    return spot;
  });
  const names = Array.from({ length: n }, (_, j) => {
    if (n > 60 && j % Math.ceil(n / 40) && !flags[j]) return null;
    const [x, y] = point((2 * Math.PI * j) / n, 1.13);
    const className = flags[j] ? "tick lit" : "tick";
    return svg("text", { class: className, x, y: y + 4, "text-anchor": "middle" }, String(j));
  });
  const halo = svg("circle", { class: "halo", r: dot + 5, cx: -99, cy: -99 });
  const node = picture(SIZE, SIZE, "", rim, way, ...spots, halo, ...names, arrows);
  node.classList.add("circle");
  if (ontoggle) listenToKeys(node, { n, halo, ontoggle });
  node.paths = (frames) => way.replaceChildren(...trails(frames));
  node.show = (frame, time) => {
    arrows.replaceChildren(...headArrows(frame, time));
    spots.forEach((spot, j) => {
      const weight = Math.min(frame.weights[j], 1.5);
      setLength(spot, "r", dot * (0.75 + 0.9 * Math.sqrt(weight)));
    });
  };
  return node;
}

/** Left and right move a cursor over the positions, Enter or space hides or frees one. */
function listenToKeys(node, { n, halo, ontoggle }) {
  let cursor = -1;
  node.setAttribute("tabindex", "0");
  node.addEventListener("keydown", (event) => {
    const turn = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (turn) cursor = cursor < 0 ? 0 : (cursor + turn + n) % n;
    else if ((event.key === "Enter" || event.key === " ") && cursor >= 0) ontoggle(cursor);
    else return;
    event.preventDefault();
    event.stopPropagation();
    const [cx, cy] = point((2 * Math.PI * cursor) / n, 1);
    halo.setAttribute("cx", cx);
    halo.setAttribute("cy", cy);
  });
}

/** The way of every head through the frames. */
function trails(frames) {
  if (frames.length < 2) return [];
  const heads = frames[0].directions.length / 2;
  const last = frames[frames.length - 1].step || 1;
  return Array.from({ length: heads }, (_, head) => {
    const points = frames.map(({ directions, step }) => {
      const angle = Math.atan2(directions[2 * head], directions[2 * head + 1]);
      return point(angle, reach(step / last))
        .map((each) => each.toFixed(1))
        .join(",");
    });
    return svg("polyline", { class: `trail head${head % 6}`, points: points.join(" ") });
  });
}

/** An arrow from the centre to where every head looks now. */
function headArrows({ directions }, time) {
  const found = [];
  for (let head = 0; head < directions.length / 2; head++) {
    const angle = Math.atan2(directions[2 * head], directions[2 * head + 1]);
    const [x, y] = point(angle, reach(time));
    const [x0, y0] = point(angle, 0.03);
    const tip = [
      point(angle, reach(time) + 0.05),
      point(angle + 0.09 / reach(time), reach(time) - 0.04),
    ];
    tip.push(point(angle - 0.09 / reach(time), reach(time) - 0.04));
    const name = `head${head % 6}`;
    found.push(
      svg("line", { class: `arrow ${name}`, x1: x0, y1: y0, x2: x, y2: y }),
      svg("polygon", { class: `tip ${name}`, points: tip.map((p) => p.join(",")).join(" ") }),
    );
  }
  return found;
}

/** What the chain demo shows beside the tree: heat maps, scores of children, a judgement. */

import { chainAttention, pairScores } from "../engine/chain.js";
import { samplesToFindChildren } from "../engine/theory.js";
import { heatMap } from "./charts.js";
import { digits, el, picture, svg, wholeWidth } from "./dom.js";

const HEIGHT = 150;
const LEFT = 46;
const TOP = 24;

/** Attention of every node before and after training; frames mark the true children. */
export function attentionMaps(tree, before, after) {
  const rows = tree.children.map((_, node) => String(tree.n + node));
  const marked = (node, token) => tree.children[node].includes(token);
  const map = (title, columns) => {
    const label = `${title}, a row per node`;
    return el("div", {}, heatMap({ title, columns, tokens: tree.size - 1, rows, marked, label }));
  };
  return [
    map("attention before: equal shares", chainAttention(before)),
    map("attention after (frames: the true children)", chainAttention(after)),
  ];
}

/** Every node's scores as its step made them: those of the first state with any weight. */
function rawScores(tree, states) {
  const last = states[states.length - 1];
  return tree.children.map((_, node) => {
    const made = states.find(({ raw }) => raw?.[node].some((score) => score !== 0));
    return made ? made.raw[node] : last.scores[node];
  });
}

/** Scores of all children; with rounding, the half-integers at which siblings part are dashed. */
export function scorePicture(tree, states, rounding) {
  const width = wholeWidth();
  const pairs = pairScores(tree, rawScores(tree, states));
  const all = pairs.flatMap(({ children, others }) => [...children, others]);
  const values = all.filter(Number.isFinite);
  const [low, high] = [Math.min(0, ...values) - 0.5, Math.max(1, ...values) + 0.5];
  const up = (value) => HEIGHT - 14 - ((value - low) / (high - low)) * (HEIGHT - 14 - TOP);
  const slot = (width - LEFT - 12) / tree.children.length;
  const title = rounding
    ? "scores before rounding (dashed: half-integers)"
    : "scores: both children, best other token (ring)";
  const dots = pairs.flatMap((pair, node) => pairMarks(pair, LEFT + slot * (node + 0.5), up));
  const heading = svg("text", { class: "title", x: LEFT, y: 14 }, title);
  return picture(
    width,
    HEIGHT,
    title,
    heading,
    ...scoreLines({ low, high, width, up, rounding }),
    ...dots,
  );
}

function scoreLines({ low, high, width, up, rounding }) {
  const parts = [];
  const stride = Math.max(1, Math.round((high - low) / (rounding ? 12 : 5)));
  for (let value = Math.ceil(low); value <= high; value += stride) {
    const y = up(rounding ? value - 0.5 : value);
    const kind = rounding ? "level" : "grid";
    const place = { x: LEFT - 5, y: up(value) + 4, "text-anchor": "end" };
    parts.push(
      svg("line", { class: kind, x1: LEFT, x2: width - 12, y1: y, y2: y }),
      svg("text", { class: "tick", ...place }, String(value)),
    );
  }
  return parts;
}

function pairMarks({ children, others }, x, up) {
  const marks = children.map((score, i) =>
    svg("circle", { class: "dot", cx: x + (i ? 5 : -5), cy: up(score), r: 4.5 }),
  );
  if (Number.isFinite(others)) {
    marks.push(svg("circle", { class: "ring", cx: x, cy: up(others), r: 4 }));
  }
  return marks;
}

/** A sentence about what the trained chain is worth. */
export function judgement(tree, { judged, states, samples, method }) {
  const { right, rows, pairs, risk } = judged;
  const count = (number) => number.toLocaleString("en");
  const found = pairs.filter(Boolean).length;
  const share = right === 1 ? "right on every one of" : `right on ${digits(100 * right)} % of`;
  const solved = states.map((state) => state.levels).join(", ");
  const levels = method === "levels" ? `; levels solved after each step: ${solved}` : "";
  const needed = Math.round(samplesToFindChildren(tree.n, tree.k));
  return (
    `From ${count(samples)} samples (theory: children found from about ${count(needed)}): ` +
    `${found} of ${pairs.length} nodes found their children; ${share} ${count(rows)} inputs, ` +
    `½ mean (ŷ-y)² = ${digits(risk)}${levels}.`
  );
}

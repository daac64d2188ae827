/** The tree of a chain of thought: tokens, what each node attends to, values filling upwards. */

import { picture, svg } from "./dom.js";

const WIDTH = 900;
const LEVEL = 74;

/** Where every token stands: inputs in a row, nodes above the middle of their children. */
function placesOf(tree) {
  const depth = tree.ends.length - 1;
  const base = 34 + depth * LEVEL;
  const slot = (WIDTH - 40) / tree.n;
  const places = Array.from({ length: tree.n }, (_, j) => [20 + slot * (j + 0.5), base]);
  tree.children.forEach(([left, right], node) => {
    const x = (places[left][0] + places[right][0]) / 2;
    places.push([x, base - tree.levels[node] * LEVEL]);
  });
  return { places, height: base + 42, slot };
}

/**
 * Draws the tree. attention: columns of every node. onflip(j): an input was clicked.
 *
 * `show(tokens, truth, level)` fills in values up to a level; a wrong sign gets a red frame.
 */
export function treePicture({ tree, attention, onflip }) {
  const { places, height, slot } = placesOf(tree);
  const size = Math.max(5, Math.min(13, slot * 0.42));
  const edges = [];
  attention.forEach((column, node) => {
    const [x, y] = places[tree.n + node];
    column.forEach((share, j) => {
      const own = tree.children[node].includes(j);
      if (share < 0.03 && !own) return;
      const width = Math.max(own ? 0.8 : 0, 7 * share);
      const [x2, y2] = places[j];
      const kind = own ? "edge own" : "edge";
      edges.push(svg("line", { class: kind, x1: x, y1: y, x2, y2, "stroke-width": width }));
    });
  });
  const marks = places.map(([x, y], token) => {
    const leaf = tree.leaves.includes(token);
    const kind = token < tree.n ? (leaf ? "token lit" : "token") : "token";
    const box = { x: x - size, y: y - size, width: 2 * size, height: 2 * size, rx: 3 };
    const shape =
      token < tree.n
        ? svg("rect", { class: kind, ...box })
        : svg("circle", { class: kind, cx: x, cy: y, r: size + 3 });
    const sign = svg("text", { class: "sign", x, y: y + 4.5, "text-anchor": "middle" });
    const flips = token < tree.n ? { class: "input", onclick: () => onflip(token) } : {};
    const group = svg("g", flips, shape, sign);
    return { group, shape, sign };
  });
  const names = places.slice(0, tree.n).map(([x, y], j) => {
    const kind = tree.leaves.includes(j) ? "tick lit" : "tick";
    const place = { x, y: y + size + 16, "text-anchor": "middle" };
    return svg("text", { class: kind, ...place }, String(j));
  });
  const node = picture(WIDTH, height, "", ...edges, ...names, ...marks.map((mark) => mark.group));
  node.classList.add("tree");
  node.show = (tokens, truth, level) => {
    marks.forEach(({ group, shape, sign }, token) => {
      const filled = token < tree.n || tree.levels[token - tree.n] <= level;
      const value = tokens[token];
      group.classList.toggle("empty", !filled);
      group.classList.toggle("plus", filled && value > 0);
      group.classList.toggle("minus", filled && value <= 0);
      group.classList.toggle("unsure", filled && Math.abs(value) < 0.6);
      group.classList.toggle("wrong", filled && !(value * truth[token] > 0));
      shape.setAttribute("fill-opacity", filled ? 0.15 + 0.85 * Math.min(1, Math.abs(value)) : 0);
      const sure = Math.abs(value) > 0.95;
      sign.textContent = !filled
        ? ""
        : sure
          ? value > 0
            ? "+"
            : "−"
          : size > 8
            ? value.toFixed(1)
            : "?";
    });
  };
  return node;
}

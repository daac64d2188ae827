/** What is to be learnt: hidden sets, the tree of a chain of thought, rows of signs. */

import { bytes, foldIn, words } from "./random.js";

/** A uniformly random k-set of 0 … n-1, ascending: the positions of the k smallest words. */
export function randomSubset(key, n, k) {
  return smallest(words(foldIn(key, 0), n), k);
}

/** The indices of the k smallest entries, ascending; the first of equal ones. */
export function smallest(values, k) {
  const order = Array.from(values, (_, index) => index);
  order.sort((a, b) => values[a] - values[b] || a - b);
  return order.slice(0, k).sort((a, b) => a - b);
}

/** 1 on the hidden positions and 0 elsewhere, (n,). */
export function indicator(n, subset) {
  const flags = new Uint8Array(n);
  for (const position of subset) flags[position] = 1;
  return flags;
}

/** Whether two positions of the set are neighbours on the circle of n. */
export function hasNeighbours(n, subset) {
  const flags = indicator(n, subset);
  return subset.some((position) => flags[(position + 1) % n]);
}

/**
 * The complete binary tree of 2-parities over k = 2^v leaves.
 *
 * Tokens 0 … n-1 are the input signs, tokens n … n+k-2 the inner nodes, level by level.
 * ends: how many tokens there are up to each level. children: two tokens per inner node. levels:
 * 1 … v of every inner node.
 */
export function parityTree(n, leaves) {
  const ends = levelEnds(n, leaves.length);
  const below = [...leaves];
  for (let token = n; token < ends[ends.length - 1] - 1; token++) below.push(token);
  const children = [];
  for (let at = 0; at < below.length; at += 2) children.push([below[at], below[at + 1]]);
  const levels = children.map((_, node) => ends.findIndex((end) => n + node < end));
  const k = leaves.length;
  return { n, k, leaves: [...leaves], ends, children, levels, size: n + k - 1 };
}

/** d_0 = n, d_1 = n + k/2, …, d_v = n + k - 1. */
export function levelEnds(n, k) {
  const ends = [n];
  for (let size = k / 2; size >= 1; size /= 2) ends.push(ends[ends.length - 1] + size);
  return ends;
}

/** `rows` strings of n fair signs, as the lab's draw_signs: eight to a byte, highest bit first. */
export function drawSigns(key, rows, n) {
  const width = Math.ceil(n / 8);
  const packed = bytes(key, rows * width);
  const signs = new Int8Array(rows * n);
  for (let row = 0; row < rows; row++) {
    for (let j = 0; j < n; j++) {
      const bit = (packed[row * width + (j >> 3)] >> (7 - (j & 7))) & 1;
      signs[row * n + j] = 1 - 2 * bit;
    }
  }
  return signs;
}

/** Row number `row` of all 2^n strings as signs: bit j of the number is sign j. */
export function signsOf(number, n) {
  const signs = new Int8Array(n);
  for (let j = 0; j < n; j++) signs[j] = 1 - 2 * ((number >>> j) & 1);
  return signs;
}

/** The true tokens of one row of signs: the inputs, then every product on the tree. */
export function trueTokens(tree, signs) {
  const tokens = new Float64Array(tree.size);
  tokens.set(signs);
  for (let node = 0; node < tree.k - 1; node++) {
    const pair = tree.children[node];
    tokens[tree.n + node] = tokens[pair[0]] * tokens[pair[1]];
  }
  return tokens;
}

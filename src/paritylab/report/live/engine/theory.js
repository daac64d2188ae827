/** What theorems promise, and the laws behind step sizes: plain functions, as in theory/. */

import { levelEnds } from "./problem.js";
import { link, linkSlope } from "./models.js";

/** 2 ln n + 6: a gain inside the window of softmax. */
export function defaultGain(n) {
  return 2 * Math.log(n) + 6;
}

/** 12 ln n: a width of random positions that ranks the pair. */
export function usualWidth(n) {
  return Math.ceil(12 * Math.log(n));
}

/** Median over draws of the largest |ŷ - y| after one step on plain sign positions. */
export function medianWorstError(n, width, gain) {
  return (0.454936423119572 * 4 * gain * gain) / (n * width);
}

/** N at which one teacher-forced step starts to find every pair: 2M(√(2 ln M) + √(2 ln k))². */
export function samplesToFindChildren(n, k) {
  const tokens = n + k - 2;
  return 2 * tokens * (Math.sqrt(2 * Math.log(tokens)) + Math.sqrt(2 * Math.log(k))) ** 2;
}

/** η that gives the root's children a score of ln M + 5 above the M tokens it sees. */
export function usualStep(n, k) {
  const tokens = n + k - 2;
  return (Math.log(tokens) + 5) / levelSignal(tokens, 2, 1);
}

/**
 * -∂L/∂w on a child of a node on `level` when all levels below are solved, exactly.
 *
 * The node averages the first d tokens: n - k free bits and k/2^(level-1) subtrees. A subtree's
 * sum given its root follows from that of its halves, so the law of the mean is a few convolutions.
 */
export function levelSignal(n, k, level) {
  const subtree = subtreeLaw(level - 1);
  const either = subtree[0].map((chance, index) => chance + subtree[1][index]);
  let others = binomial(n - k);
  for (let rest = (k >> (level - 1)) - 2; rest > 0; rest--) others = convolve(others, either);
  let total = 0;
  for (const first of [1, -1]) {
    for (const second of [1, -1]) {
      const both = convolve(subtree[(1 - first) / 2], subtree[(1 - second) / 2]);
      const law = convolve(others, both);
      law.forEach((chance, index) => {
        const z = -1 + (2 * index) / (law.length - 1);
        total += chance * (link(z) - first * second) * linkSlope(z) * (first - z);
      });
    }
  }
  return -total / levelEnds(n, k)[level - 1];
}

/**
 * A step size whose scores, on every level, keep as far from half-integers as possible.
 *
 * Among η that give the root's children between ln M + 3 and ln M + 8; distances are measured
 * against the noise of `samples` rows.
 */
export function levelStep(n, k, samples) {
  const ends = levelEnds(n, k);
  const signals = ends.slice(1).map((_, index) => levelSignal(n, k, index + 1));
  const floor = Math.log(n + k - 2);
  let best = 0;
  let widest = -Infinity;
  for (let index = 0; index <= 2000; index++) {
    const eta = (floor + 3 + index * (5 / 2000)) / signals[signals.length - 1];
    const room = signals.map((signal, level) => {
      const score = eta * signal;
      const distance = 0.5 - Math.abs(score - Math.round(score));
      return distance / (0.03 + score * Math.sqrt((2 * ends[level]) / samples));
    });
    if (Math.min(...room) > widest) [best, widest] = [eta, Math.min(...room)];
  }
  return best;
}

/** P(root = ±1, sum of all tokens = s), s from -size to size in steps of 2; root +1 first. */
function subtreeLaw(height) {
  let law = [
    [0, 0.5],
    [0.5, 0],
  ];
  for (let step = 0; step < height; step++) {
    const plus = convolve(law[0], law[0]);
    const minus = convolve(law[1], law[1]);
    const mixed = convolve(law[0], law[1]);
    law = [
      [0, ...plus.map((p, i) => p + minus[i])],
      [...mixed.map((p) => 2 * p), 0],
    ];
  }
  return law;
}

/** P(i successes), i = 0..trials, of fair coins. */
function binomial(trials) {
  let law = [1];
  for (let step = 0; step < trials; step++) law = convolve(law, [0.5, 0.5]);
  return law;
}

/** Σ_i a_i b_(s-i). */
function convolve(a, b) {
  const found = new Array(a.length + b.length - 1).fill(0);
  a.forEach((x, i) => b.forEach((y, j) => (found[i + j] += x * y)));
  return found;
}

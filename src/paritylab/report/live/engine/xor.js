/**
 * Two heads on a hidden pair: y = -x_i·x_j, one exact gradient step from zero.
 *
 * Signs x, weights g_l = mean of both heads' attention, ŷ = 1 - 2z² with z = Σ g_l x_l. From w = 0
 * both heads move alike, so one row of scores says everything.
 */

import { ATTENTION, firstResponse } from "./models.js";
import { smallest } from "./problem.js";
import { foldIn, runKey, uniform, words } from "./random.js";

/** A step is right if |ŷ - y| is at most this on every input: ½(ŷ-y)² ≤ 0.01. */
export const SOLVED_ERROR = Math.sqrt(0.02);

/**
 * Positions ±1/√m in R^m, centred so that they sum to 0: (n, m), flat.
 *
 * "signs": independent, drawn as the lab's RandomSigns draws them. "balanced": every column holds
 * as many +1 as -1: the half with the smallest words of the column's own key is -1.
 */
export function drawPositions(kind, seed, n, width) {
  const key = foldIn(runKey(seed, 0), 0);
  const table = new Float64Array(n * width).fill(1 / Math.sqrt(width));
  if (kind === "balanced") {
    for (let column = 0; column < width; column++) {
      const minus = smallest(words(foldIn(key, column), n), n / 2);
      for (const row of minus) table[row * width + column] *= -1;
    }
    return table;
  }
  uniform(key, n * width).forEach((u, index) => (table[index] *= u < 0.5 ? -1 : 1));
  for (let column = 0; column < width; column++) {
    let mean = 0;
    for (let row = 0; row < n; row++) mean += table[row * width + column] / n;
    for (let row = 0; row < n; row++) table[row * width + column] -= mean;
  }
  return table;
}

/**
 * Scores and weights before and after one gradient step on ½E(ŷ-y)², exactly.
 *
 * table: positions (n, width), flat. pair: i and j. gain: step size in units of the step that
 * raises the pair by 1 above the rest. kind: an attention kind.
 */
export function xorStep(table, n, pair, gain, kind) {
  const width = table.length / n;
  const { weight, slope } = firstResponse(kind, n, gain);
  const unit = 2 / (slope * 4 * weight);
  const forces = scoreForces(n, pair, weight, slope, kind);
  const direction = new Float64Array(width);
  for (let l = 0; l < n; l++) {
    for (let c = 0; c < width; c++) {
      direction[c] -= ((gain * unit) / 2) * forces[l] * table[l * width + c];
    }
  }
  const scores = new Float64Array(n);
  for (let l = 0; l < n; l++) {
    for (let c = 0; c < width; c++) scores[l] += table[l * width + c] * direction[c];
  }
  const before = ATTENTION[kind](new Float64Array(n), gain);
  return { scores, before, weights: ATTENTION[kind](scores, gain), direction };
}

/**
 * ∂risk/∂score_l at equal scores. The risk in g is 1 - 2S₂ + 6S₂² - 4S₄ - 4g_i g_j, and softmax
 * takes the mean over positions away.
 */
function scoreForces(n, pair, weight, slope, kind) {
  const second = n * weight ** 2;
  const other = -4 * weight + 24 * second * weight - 16 * weight ** 3;
  const mean = kind === "softmax" ? other - (8 * weight) / n : 0;
  return Float64Array.from({ length: n }, (_, l) => {
    const gradient = other - (pair.includes(l) ? 4 * weight : 0);
    return slope * (gradient - mean);
  });
}

/**
 * The largest |ŷ - y| over all 2^n inputs and what it is made of.
 *
 * Where y = -1 the mean z has |z| between max(c-R, 0) and c+R, where y = 1 between 0 and d+R, with
 * c = |g_i + g_j|, d = |g_i - g_j|, R = Σ|g| off the pair. exact: false if R > c leaves open how
 * close to 0 an input brings z, and that could matter; the error is then an upper bound.
 */
export function worstCase(weights, pair) {
  const together = Math.abs(weights[pair[0]] + weights[pair[1]]);
  const imbalance = Math.abs(weights[pair[0]] - weights[pair[1]]);
  let outside = 0;
  weights.forEach((weight, l) => (outside += pair.includes(l) ? 0 : Math.abs(weight)));
  const reached = Math.max(
    Math.abs(2 - 2 * (together + outside) ** 2),
    2 * (imbalance + outside) ** 2,
  );
  const near = 2 - 2 * Math.max(together - outside, 0) ** 2;
  return {
    error: Math.max(reached, near),
    exact: outside <= together || reached >= near,
    outside,
    imbalance,
  };
}

/** ½E(ŷ-y)² over all inputs: 1 - 2S₂ + 6S₂² - 4S₄ - 4g_i g_j. */
export function xorRisk(weights, pair) {
  let [second, fourth] = [0, 0];
  for (const weight of weights) {
    second += weight ** 2;
    fourth += weight ** 4;
  }
  return 1 - 2 * second + 6 * second ** 2 - 4 * fourth - 4 * weights[pair[0]] * weights[pair[1]];
}

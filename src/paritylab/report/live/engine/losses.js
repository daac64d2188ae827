/** Losses of the zigzag readout, cut into the pieces on which they are polynomials. */

import { zigzag, zigzagSlope } from "./models.js";

/**
 * risk = outer(E[margin^power]) with the margin max(0, 1 - y·ŷ): the squared hinge of the paper,
 * and the (mean hinge)² of its public code.
 */
export const LOSSES = {
  squared_hinge: { power: 2, outer: (mean) => mean, outerSlope: () => 1 },
  mean_hinge_squared: { power: 1, outer: (mean) => mean * mean, outerSlope: (mean) => 2 * mean },
};

/**
 * Where max(0, 1 - y·h(s))^power is not 0: {a, b, y, polynomial} on [a, b] ⊂ [0, k], for labels
 * y = ±1; polynomial: coefficients of 1, s, s².
 */
export function zigzagPieces(k, power) {
  const found = [];
  const cuts = cutPoints(k);
  for (let at = 0; at + 1 < cuts.length; at++) {
    const [a, b] = [cuts[at], cuts[at + 1]];
    const slope = zigzagSlope((a + b) / 2, k);
    const level = zigzag((a + b) / 2, k) - (slope * (a + b)) / 2;
    for (const y of [1, -1]) {
      const [p, q] = [1 - y * level, -y * slope];
      if (!(p + (q * (a + b)) / 2 > 0)) continue;
      found.push({ a, b, y, polynomial: power === 2 ? [p * p, 2 * p * q, q * q] : [p, q, 0] });
    }
  }
  return found;
}

/** 0, k, the corners of the zigzag and the points where it crosses ±1, ascending. */
function cutPoints(k) {
  const corners = [0];
  for (let i = 1; i <= k; i++) corners.push(i - 0.5, i);
  const cuts = new Set(corners);
  for (let at = 0; at + 1 < corners.length; at++) {
    const [low, high] = [zigzag(corners[at], k), zigzag(corners[at + 1], k)];
    for (const level of [1, -1]) {
      const share = (level - low) / (high - low);
      if (share > 0 && share < 1) cuts.add(corners[at] + share / 2);
    }
  }
  return [...cuts].sort((a, b) => a - b);
}

/**
 * Risk of any readout and loss over all 2^n inputs, visited one by one.
 *
 * The half-sums of the zigzag need straight pieces; a smoothed readout and one that was typed in
 * have none. At n = 8 there are 256 inputs, at n = 12 there are 4096: cheap enough to visit.
 */

import { slopeNow } from "./formula.js";

/** Up to so many bits every input is visited. */
export const LISTED = 12;

/** HG1's readout with ReLU smoothed to (x + √(x² + b))/2, as {at, slope}. */
export function smoothZigzag(k, b) {
  let slope = 0;
  const at = (s) => {
    let value = 1;
    slope = 0;
    for (let i = 1; i <= k; i++) {
      const x = s + 0.5 - i;
      const root = Math.sqrt(x * x + b);
      const weight = (i % 2 ? -1 : 1) * (8 * i - 4);
      value += (weight * (x + root)) / 2;
      slope += (weight * (1 + (root === 0 ? 0 : x / root))) / 2;
    }
    return value;
  };
  return { at, slope: () => slope };
}

/** The readout cos(πs). */
export function cosine() {
  let last = 0;
  const at = (s) => ((last = s), Math.cos(Math.PI * s));
  return { at, slope: () => -Math.PI * Math.sin(Math.PI * last) };
}

/** A function of `formula.compiled` in the same form. */
export function typed(compiled) {
  return { at: compiled, slope: slopeNow };
}

/** Losses of the margin m = y·ŷ: risk = outer(E[at(m)]). */
export const MARGINS = {
  squared_hinge: { at: (m) => Math.max(0, 1 - m) ** 2, slope: (m) => -2 * Math.max(0, 1 - m) },
  hinge: { at: (m) => Math.max(0, 1 - m), slope: (m) => (m < 1 ? -1 : m > 1 ? 0 : -0.5) },
  squared: { at: (m) => (1 - m) ** 2 / 2, slope: (m) => m - 1 },
  correlation: { at: (m) => -m, slope: () => -1 },
};
MARGINS.mean_hinge_squared = {
  ...MARGINS.hinge,
  outer: (mean) => mean * mean,
  outerSlope: (mean) => 2 * mean,
};

/** A typed loss of the margin in the form of MARGINS. */
export function typedLoss(compiled) {
  const slope = (m) => {
    compiled(m);
    return slopeNow();
  };
  return { at: compiled, slope };
}

/**
 * outer(E[loss(y·h(s))]) over all inputs, s = Σ_j g_j x_j, and its gradient in g.
 *
 * weights: g (n,). flags: 1 on B, y = (-1)^(Σ_B x). readout: {at, slope}. loss: as in MARGINS.
 * ∂/∂g_j is the mean of loss'·y·h'(s) over the inputs with x_j = 1; halving the table of inputs by
 * its highest bit gives one j after the other.
 */
export function enumeratedRisk(weights, flags, readout, loss) {
  const n = weights.length;
  const size = 2 ** n;
  const sums = new Float64Array(size);
  const labels = new Float64Array(size).fill(1);
  for (let j = 0, half = 1; j < n; j++, half *= 2) {
    for (let i = 0; i < half; i++) {
      sums[half + i] = sums[i] + weights[j];
      labels[half + i] = flags[j] ? -labels[i] : labels[i];
    }
  }
  let total = 0;
  const slopes = sums; // the sum at i is not needed once its slope is known
  for (let i = 0; i < size; i++) {
    const margin = labels[i] * readout.at(sums[i]);
    const bend = labels[i] * readout.slope();
    total += loss.at(margin);
    slopes[i] = loss.slope(margin) * bend;
  }
  const mean = total / size;
  const outer = (loss.outerSlope?.(mean) ?? 1) / size;
  const gradient = new Float64Array(n);
  for (let j = n - 1, half = size / 2; j >= 0; j--, half /= 2) {
    let found = 0;
    for (let i = 0; i < half; i++) {
      found += slopes[half + i];
      slopes[i] += slopes[half + i];
    }
    gradient[j] = outer * found;
  }
  return { value: loss.outer?.(mean) ?? mean, gradient };
}

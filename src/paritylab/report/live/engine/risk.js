/**
 * How wrong heads are over all 2^n inputs, from the weights g of the attended sum alone.
 *
 * Three routes, as in the lab: the closed form of the readout cos(πs) at any n; for HG1's zigzag
 * every input up to n = 28, counted exactly from two halves of the positions, and a cosine series
 * above with the error it may make.
 */

import { halfSumMean } from "./half_sums.js";
import { LOSSES, zigzagPieces } from "./losses.js";

/** Up to so many bits the zigzag's risk counts every input. */
export const COUNTED = 28;
/** Terms of the series above that, unless fewer are asked for. */
export const TERMS = 1024;
const SETTLING = 64;

/** E[y·cos(πs)] = Π_{j∉B} cos(πg_j/2) · Π_{j∈B} sin(πg_j/2), exactly. */
export function correlation(weights, flags) {
  let product = 1;
  for (let j = 0; j < weights.length; j++) {
    const half = (Math.PI / 2) * weights[j];
    product *= flags[j] ? Math.sin(half) : Math.cos(half);
  }
  return product;
}

/** Squared-hinge risk of the readout cos(πs): E(1 - yŷ)² = 1 - 2E[yŷ] + ½ + ½E[cos 2πs]. */
export function cosineRisk(weights, flags, k) {
  let twice = k % 2 ? -1 : 1;
  for (const weight of weights) twice *= Math.cos(Math.PI * weight);
  return 1.5 - 2 * correlation(weights, flags) + twice / 2;
}

/** -log|E[y·cos πs]| and its gradient in g: the annealed heads descend it. */
export function minusLogCorrelation(weights, flags) {
  let value = 0;
  const gradient = new Float64Array(weights.length);
  for (let j = 0; j < weights.length; j++) {
    const half = (Math.PI / 2) * weights[j];
    const factor = flags[j] ? Math.sin(half) : Math.cos(half);
    const slope = flags[j] ? Math.cos(half) : -Math.sin(half);
    const size = Math.abs(factor) + 1e-300;
    value -= Math.log(size);
    gradient[j] = (-(Math.PI / 2) * slope * Math.sign(factor)) / size;
  }
  return { value, gradient };
}

/**
 * Population risk of the zigzag readout and its gradient in g.
 *
 * weights: g (n,), summing to k. flags: 1 on B. loss: a name in LOSSES. error: how far the value
 * may be off: rounding where every input is counted, an estimate from the partial sums
 * of the series. The gradient is known up to a constant shared by all entries, which moves nothing
 * because Σ g is fixed.
 */
export function zigzagRisk(weights, flags, k, loss = "squared_hinge", terms = TERMS) {
  const { power, outer, outerSlope } = LOSSES[loss];
  const counted = weights.length <= COUNTED;
  const mean = counted
    ? halfSumMean(weights, flags, k, power)
    : seriesMean(weights, flags, k, power, terms);
  const slope = outerSlope(mean.value);
  return {
    value: outer(mean.value),
    gradient: mean.gradient.map((each) => slope * each),
    error: (slope + (loss === "squared_hinge" ? 0 : mean.error)) * mean.error,
    route: counted ? "half-sums" : "series",
  };
}

const known = new Map();

/**
 * Cosine series on [0, k] of E over y of the loss at s: even part (f₊+f₋)/2 and odd (f₊-f₋)/2.
 *
 * Between corners f± is a polynomial of degree ≤ 2, so that every coefficient is elementary.
 */
export function coefficients(k, power) {
  const name = `${k},${power}`;
  if (known.has(name)) return known.get(name);
  const even = new Float64Array(TERMS);
  const odd = new Float64Array(TERMS);
  for (const { a, b, y, polynomial } of zigzagPieces(k, power)) {
    for (let m = 0; m < TERMS; m++) {
      const part = cosineIntegral(polynomial, (Math.PI * m) / k, a, b) * (m ? 2 / k : 1 / k);
      even[m] += part / 2;
      odd[m] += (y * part) / 2;
    }
  }
  known.set(name, { even, odd });
  return known.get(name);
}

/** ∫_a^b (α + βs + γs²) cos(ωs) ds. */
function cosineIntegral([alpha, beta, gamma], omega, a, b) {
  const primitive = (s) =>
    omega === 0
      ? s * (alpha + s * (beta / 2 + (s * gamma) / 3))
      : ((alpha + s * (beta + s * gamma)) * Math.sin(omega * s)) / omega +
        ((beta + 2 * gamma * s) * Math.cos(omega * s)) / omega ** 2 -
        (2 * gamma * Math.sin(omega * s)) / omega ** 3;
  return primitive(b) - primitive(a);
}

/**
 * Σ_m a_m E[cos ω_m s] + b_m E[y cos ω_m s] with ω_m = πm/k, and its gradient in g.
 *
 * E[cos ωs] = cos(πm/2) Π cos(ωg_j/2) and E[y cos ωs] = cos(π(m-k)/2) Π_{∉B} cos Π_{∈B} sin.
 * error: the farthest that partial sums stray from the last one after the first SETTLING terms. An
 * estimate: the true error was at most 0.28 of it in 450 random cases.
 */
function seriesMean(weights, flags, k, power, terms) {
  const n = weights.length;
  const { even, odd } = coefficients(k, power);
  const turn = weights.map((weight) => (Math.PI * weight) / (2 * k));
  const [turnCos, turnSin] = [turn.map(Math.cos), turn.map(Math.sin)];
  const cos = new Float64Array(n).fill(1);
  const sin = new Float64Array(n);
  const work = { cos, sin, flags, before: new Float64Array(n), gradient: new Float64Array(n) };
  const partial = new Float64Array(terms);
  let value = 0;
  for (let m = 0; m < terms; m++) {
    const omega = (Math.PI * m) / k;
    if (m % 2 === 0) value += addTerm(work, even[m] * (m % 4 ? -1 : 1), omega, false);
    const phase = (((m - k) % 4) + 4) % 4;
    if (phase % 2 === 0) value += addTerm(work, odd[m] * (phase ? -1 : 1), omega, true);
    partial[m] = value;
    for (let j = 0; j < n; j++) {
      const c = cos[j] * turnCos[j] - sin[j] * turnSin[j];
      sin[j] = sin[j] * turnCos[j] + cos[j] * turnSin[j];
      cos[j] = c;
    }
  }
  let stray = 0;
  for (let m = SETTLING; m < terms; m++) stray = Math.max(stray, Math.abs(value - partial[m]));
  const error = stray + 1e-11 * (1 + Math.abs(value));
  return { value, gradient: work.gradient, error };
}

/** One term of the series: adds to the gradient, returns its share of the value. */
function addTerm(work, factor, omega, signed) {
  const { cos, sin, flags, before, gradient } = work;
  const n = cos.length;
  let product = factor;
  for (let j = 0; j < n; j++) {
    before[j] = product;
    product *= signed && flags[j] ? sin[j] : cos[j];
    // Even without one vanishing factor the product is then far below rounding.
    if (Math.abs(product) < 1e-45) return 0;
  }
  let after = omega / 2;
  for (let j = n - 1; j >= 0; j--) {
    const inside = signed && flags[j];
    gradient[j] += before[j] * after * (inside ? cos[j] : -sin[j]);
    after *= inside ? sin[j] : cos[j];
  }
  return product;
}

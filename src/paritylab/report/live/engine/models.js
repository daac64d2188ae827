/** What learns: attention over positions, readouts, links. */

/** γ_j = exp(score_j) / Σ exp, in float64. */
export function softmax(scores) {
  const n = scores.length;
  const found = new Float64Array(n);
  let top = -Infinity;
  let total = 0;
  for (let j = 0; j < n; j++) if (scores[j] > top) top = scores[j];
  for (let j = 0; j < n; j++) total += found[j] = Math.exp(scores[j] - top);
  for (let j = 0; j < n; j++) found[j] /= total;
  return found;
}

/** 1/(1 + e^-t). */
export function sigmoid(t) {
  return t >= 0 ? 1 / (1 + Math.exp(-t)) : Math.exp(t) / (1 + Math.exp(t));
}

/** The angle of position j on the circle of n, clockwise from the top. */
export function angleOf(position, n) {
  return (2 * Math.PI * position) / n;
}

/** The positions of the circle as [sin, cos], two arrays (n,). */
export function circle(n) {
  const angles = new Float64Array(n).map((_, j) => angleOf(j, n));
  return { sin: angles.map(Math.sin), cos: angles.map(Math.cos) };
}

/** Attention of one head: softmax_j(<a, p_j>/τ), direction a = [a_sin, a_cos]. */
export function headAttention(direction, places, tau) {
  const { sin, cos } = places;
  const scores = new Float64Array(sin.length);
  for (let j = 0; j < sin.length; j++) {
    scores[j] = (direction[0] * sin[j] + direction[1] * cos[j]) / tau;
  }
  return softmax(scores);
}

/** g_j = Σ_i γ_i[j], the weight of every bit in the attended sum; Σ g = k. */
export function weightsOf(attention) {
  const weights = new Float64Array(attention[0].length);
  for (const row of attention) for (let j = 0; j < row.length; j++) weights[j] += row[j];
  return weights;
}

/** The position a head scores highest; the first of equal ones. */
export function favourite(direction, places) {
  let best = 0;
  let top = -Infinity;
  places.sin.forEach((sine, j) => {
    const score = direction[0] * sine + direction[1] * places.cos[j];
    if (score > top) [best, top] = [j, score];
  });
  return best;
}

/** HG1's readout h(s) = 1 + Σ_i (-1)^i (8i-4) max(s + 1/2 - i, 0), i = 1..k: (-1)^s at integers. */
export function zigzag(s, k) {
  let value = 1;
  for (let i = 1; i <= k && s > i - 0.5; i++) {
    value += (i % 2 ? -1 : 1) * (8 * i - 4) * (s + 0.5 - i);
  }
  return value;
}

/** h'(s), the slope to the left at a corner. */
export function zigzagSlope(s, k) {
  let slope = 0;
  for (let i = 1; i <= k && s > i - 0.5; i++) slope += (i % 2 ? -1 : 1) * (8 * i - 4);
  return slope;
}

/** φ(t) = -cos(πt), the link of the chain: φ((a+b)/2) = a·b for signs a and b. */
export function link(t) {
  return -Math.cos(Math.PI * t);
}

/** φ'(t). */
export function linkSlope(t) {
  return Math.PI * Math.sin(Math.PI * t);
}

/**
 * Attention kinds of the XOR step. weights: from scores (n,) to weights (n,); gain: of the step.
 *
 * "softmax", "linear" and "sigmoid" give 1/n to every position at score 0. "biased" is
 * ½σ(score - 0.7·gain): nothing is divided by a sum, a bias silences the other positions.
 */
export const ATTENTION = {
  softmax: (scores) => softmax(scores),
  linear: (scores) => scores.map((score) => (1 + score) / scores.length),
  sigmoid: (scores) => scores.map((score) => sigmoid(score - Math.log(scores.length - 1))),
  biased: (scores, gain) => scores.map((score) => sigmoid(score - 0.7 * gain) / 2),
};

/** The weight of every position at equal scores, and how much faster one gains than the others. */
export function firstResponse(kind, n, gain) {
  if (kind === "softmax" || kind === "linear") return { weight: 1 / n, slope: 1 / n };
  const weight = ATTENTION[kind](new Float64Array(n), gain)[0];
  const most = kind === "biased" ? 0.5 : 1;
  return { weight, slope: weight * (1 - weight / most) };
}

/**
 * The mean over all 2^n inputs from two halves of the positions: exact, 2·2^(n/2) sums.
 *
 * A piecewise polynomial f is a start value and kinks: f(s) = f(0) + Σ_p slope_p (s-t_p)₊ +
 * ½ curve_p (s-t_p)₊². With s = u + v, u from one half and v from the other, what a kink adds for
 * one u is a moment of the sums v above t_p - u, and running totals of sorted sums have them ready.
 */

import { zigzagPieces } from "./losses.js";

const knots = new Map();

/** Kinks of the even part (f₊+f₋)/2 and the odd part (f₊-f₋)/2 of the loss, and its start. */
function kinksOf(k, power) {
  const name = `${k},${power}`;
  if (knots.has(name)) return knots.get(name);
  const at = new Map();
  let start = 0;
  const add = (t, y, slope, curve) => {
    const kink = at.get(t) ?? { t, slope: [0, 0], curve: [0, 0] };
    [1, y].forEach((sign, part) => {
      kink.slope[part] += (sign * slope) / 2;
      kink.curve[part] += (sign * curve) / 2;
    });
    at.set(t, kink);
  };
  for (const {
    a,
    b,
    y,
    polynomial: [level, linear, square],
  } of zigzagPieces(k, power)) {
    if (a === 0) start += level / 2;
    add(a, y, linear + 2 * square * a, 2 * square);
    if (b < k) add(b, y, -(linear + 2 * square * b), -2 * square);
  }
  knots.set(name, { start, kinks: [...at.values()] });
  return knots.get(name);
}

/** All sums over subsets of the weights, ascending, each with its sign χ and its subset. */
function sortedSums(weights, flags) {
  let half = { sums: Float64Array.of(0), signs: Float64Array.of(1), members: Int32Array.of(0) };
  for (let j = 0; j < weights.length; j++) half = doubled(half, weights[j], flags[j], 1 << j);
  return half;
}

/** The sums with and without one more weight, merged in order. */
function doubled({ sums, signs, members }, weight, flag, bit) {
  const size = sums.length;
  const next = {
    sums: new Float64Array(2 * size),
    signs: new Float64Array(2 * size),
    members: new Int32Array(2 * size),
  };
  const turn = flag ? -1 : 1;
  for (let i = 0, low = 0, high = 0; i < 2 * size; i++) {
    if (high === size || (low < size && sums[low] <= sums[high] + weight)) {
      next.sums[i] = sums[low];
      next.signs[i] = signs[low];
      next.members[i] = members[low++];
    } else {
      next.sums[i] = sums[high] + weight;
      next.signs[i] = turn * signs[high];
      next.members[i] = members[high++] | bit;
    }
  }
  return next;
}

/** Number, first and second moment of the entries from each index on, plain and times χ. */
function momentsAbove({ sums, signs }) {
  const size = sums.length;
  const found = [];
  for (let power = 0; power < 3; power++) {
    const [plain, signed] = [new Float64Array(size + 1), new Float64Array(size + 1)];
    for (let i = size - 1; i >= 0; i--) {
      const term = power === 0 ? 1 : power === 1 ? sums[i] : sums[i] * sums[i];
      plain[i] = plain[i + 1] + term;
      signed[i] = signed[i + 1] + signs[i] * term;
    }
    found.push(plain, signed);
  }
  return found;
}

/** Σ over v of f(u+v) and of f'(u+v) for every u of one half; slopes: by the subset of u. */
function crossSums(own, other, kinks) {
  const totals = { value: 0, slopes: new Float64Array(own.sums.length) };
  const moments = momentsAbove(other);
  for (const kink of kinks) addKink(totals, own, other.sums, moments, kink);
  return totals;
}

/** What one kink adds: as u ascends, the first v above t - u moves down. */
function addKink(totals, own, others, moments, kink) {
  const [mass, signedMass, first, signedFirst, second, signedSecond] = moments;
  const { sums, signs, members } = own;
  const { slopes } = totals;
  const t = kink.t;
  const [slope, signedSlope] = kink.slope;
  const [curve, signedCurve] = kink.curve;
  let value = 0;
  for (let i = 0, above = others.length; i < sums.length; i++) {
    const x = t - sums[i];
    while (above > 0 && others[above - 1] > x) above--;
    const lines = first[above] - x * mass[above];
    const signedLines = signedFirst[above] - x * signedMass[above];
    const squares = second[above] - x * (first[above] + lines);
    const signedSquares = signedSecond[above] - x * (signedFirst[above] + signedLines);
    value += slope * lines + (curve / 2) * squares;
    value += signs[i] * (signedSlope * signedLines + (signedCurve / 2) * signedSquares);
    slopes[members[i]] +=
      slope * mass[above] +
      curve * lines +
      signs[i] * (signedSlope * signedMass[above] + signedCurve * signedLines);
  }
  totals.value += value;
}

/** Σ over the subsets that hold bit j, for every bit of a half. */
function byBit(slopes, bits) {
  const found = new Float64Array(bits);
  for (let j = bits - 1, half = slopes.length / 2; j >= 0; j--, half /= 2) {
    for (let i = 0; i < half; i++) {
      found[j] += slopes[half + i];
      slopes[i] += slopes[half + i];
    }
  }
  return found;
}

/** E[max(0, 1 - y·h(s))^power] over all 2^n inputs and its gradient in the weights. */
export function halfSumMean(weights, flags, k, power) {
  const n = weights.length;
  const { start, kinks } = kinksOf(k, power);
  const cut = n >> 1;
  const left = sortedSums(weights.slice(0, cut), flags.slice(0, cut));
  const right = sortedSums(weights.slice(cut), flags.slice(cut));
  const [ofLeft, ofRight] = [crossSums(left, right, kinks), crossSums(right, left, kinks)];
  const gradient = new Float64Array(n);
  gradient.set(byBit(ofLeft.slopes, cut));
  gradient.set(byBit(ofRight.slopes, n - cut), cut);
  const share = 2 ** -n;
  for (let j = 0; j < n; j++) gradient[j] *= share;
  const value = start + share * ofLeft.value;
  return { value, gradient, error: 1e-13 * n * (1 + value) };
}

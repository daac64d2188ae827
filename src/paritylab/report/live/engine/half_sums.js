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
  for (const { a, b, y, polynomial: [level, linear, square] } of zigzagPieces(k, power)) {
    if (a === 0) start += level / 2;
    add(a, y, linear + 2 * square * a, 2 * square);
    if (b < k) add(b, y, -(linear + 2 * square * b), -2 * square);
  }
  knots.set(name, { start, kinks: [...at.values()] });
  return knots.get(name);
}

/** All sums over subsets of the weights, ascending, each with its sign χ and its subset. */
function sortedSums(weights, flags) {
  let sums = Float64Array.of(0);
  let signs = Int8Array.of(1);
  let members = Uint32Array.of(0);
  weights.forEach((weight, j) => {
    const size = sums.length;
    const next = [new Float64Array(2 * size), new Int8Array(2 * size), new Uint32Array(2 * size)];
    let [low, high] = [0, 0];
    for (let i = 0; i < 2 * size; i++) {
      const without = high === size || (low < size && sums[low] <= sums[high] + weight);
      const from = without ? low++ : high++;
      next[0][i] = without ? sums[from] : sums[from] + weight;
      next[1][i] = !without && flags[j] ? -signs[from] : signs[from];
      next[2][i] = without ? members[from] : members[from] | (1 << j);
    }
    [sums, signs, members] = next;
  });
  return { sums, signs, members, bits: weights.length };
}

/** Number, first and second moment of the entries from each index on, plain and times χ. */
function momentsAbove({ sums, signs }) {
  const size = sums.length;
  const found = [0, 1, 2, 3, 4, 5].map(() => new Float64Array(size + 1));
  for (let i = size - 1; i >= 0; i--) {
    let term = 1;
    for (let power = 0; power < 3; power++, term *= sums[i]) {
      found[power][i] = found[power][i + 1] + term;
      found[power + 3][i] = found[power + 3][i + 1] + signs[i] * term;
    }
  }
  return found;
}

/** Σ over v of f(u+v) and of f'(u+v) for every u of one half; slopes: by the subset of u. */
function crossSums(own, other, kinks) {
  const [mass, first, second, signedMass, signedFirst, signedSecond] = momentsAbove(other);
  const size = own.sums.length;
  const slopes = new Float64Array(size);
  let value = 0;
  for (const { t, slope, curve } of kinks) {
    let above = other.sums.length;
    for (let i = 0; i < size; i++) {
      const x = t - own.sums[i];
      while (above > 0 && other.sums[above - 1] > x) above--;
      const sign = own.signs[i];
      const lines = first[above] - x * mass[above];
      const signedLines = signedFirst[above] - x * signedMass[above];
      const squares = second[above] - x * (first[above] + lines);
      const signedSquares = signedSecond[above] - x * (signedFirst[above] + signedLines);
      value += slope[0] * lines + (curve[0] / 2) * squares;
      value += sign * (slope[1] * signedLines + (curve[1] / 2) * signedSquares);
      slopes[own.members[i]] += slope[0] * mass[above] + curve[0] * lines;
      slopes[own.members[i]] += sign * (slope[1] * signedMass[above] + curve[1] * signedLines);
    }
  }
  return { value, slopes };
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
  gradient.set(byBit(ofLeft.slopes, left.bits));
  gradient.set(byBit(ofRight.slopes, right.bits), cut);
  const share = 2 ** -n;
  for (let j = 0; j < n; j++) gradient[j] *= share;
  const value = start + share * ofLeft.value;
  return { value, gradient, error: 1e-13 * n * (1 + value) };
}

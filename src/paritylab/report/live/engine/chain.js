/**
 * The chain of thought learns: one step with teacher forcing, or one level per step without.
 *
 * x̂_m = φ(ẑ_m), ẑ_m = Σ_j softmax(w_m)_j x̂_j over the tokens that the mask lets node m see. W is
 * kept by node: scores[m] is column m, one entry per visible token.
 */

import { link, linkSlope, softmax } from "./models.js";
import { drawSigns, signsOf, trueTokens } from "./problem.js";
import { foldIn, runKey } from "./random.js";

/** Rows of a batch in the lab; batch b is drawn with fold_in(key, b). */
const BATCH = 8192;
/** All inputs judge a chain up to so many bits, fresh rows above. */
const ENUMERATED_BITS = 16;
const FRESH = 10000;
/** A chain is solved below this ½ mean (ŷ - y)². */
const SOLVED_LOSS = 0.01;

/** How many tokens node m sees: every earlier token, or those of lower levels. */
export function visibleTokens(tree, node, mask) {
  return mask === "token" ? tree.n + node : tree.ends[tree.levels[node] - 1];
}

/** W = 0: one array of zeros per node. */
export function untrained(tree, mask) {
  return tree.children.map((_, node) => new Float64Array(visibleTokens(tree, node, mask)));
}

/** The rows on which run `run` of a seed trains, as signs (samples, n), flat. */
export function trainingRows(tree, seed, run, samples) {
  const key = foldIn(runKey(seed, run), 1);
  const size = Math.min(BATCH, 2 ** Math.max(6, Math.ceil(Math.log2(samples))));
  const signs = new Int8Array(samples * tree.n);
  for (let batch = 0; batch * size < samples; batch++) {
    const kept = Math.min(size, samples - batch * size);
    signs.set(drawSigns(foldIn(key, batch), kept, tree.n), batch * size * tree.n);
  }
  return signs;
}

/**
 * ∂L/∂W at W = 0 with teacher forcing: (<r_m, x_j> - <r_m, ẑ_m>)/(N·M).
 *
 * r_m = (φ(ẑ_m) - x_m)·φ'(ẑ_m), ẑ_m the mean of the M true tokens that m sees. rows: signs, flat.
 */
export function teacherGradient(tree, rows, mask = "token") {
  const samples = rows.length / tree.n;
  const gradient = untrained(tree, mask);
  const shift = new Float64Array(gradient.length);
  const prefix = new Float64Array(tree.size + 1);
  for (let row = 0; row < samples; row++) {
    const tokens = trueTokens(tree, rows.subarray(row * tree.n, (row + 1) * tree.n));
    for (let j = 0; j < tree.size; j++) prefix[j + 1] = prefix[j] + tokens[j];
    for (let node = 0; node < gradient.length; node++) {
      const column = gradient[node];
      const z = prefix[column.length] / column.length;
      const residual = (link(z) - tokens[tree.n + node]) * linkSlope(z);
      shift[node] += residual * z;
      for (let j = 0; j < column.length; j++) column[j] += residual * tokens[j];
    }
  }
  return gradient.map((column, node) =>
    column.map((each) => (each - shift[node]) / (samples * column.length)),
  );
}

/** The scores after one step of size eta from W = 0 (Theorem 5 of KS). */
export function teacherStep(tree, rows, eta, mask = "token") {
  return teacherGradient(tree, rows, mask).map((column) => column.map((each) => -eta * each));
}

/** Attention of every node: softmax over what it sees. */
export function chainAttention(scores) {
  return scores.map((column) => softmax(column));
}

/** All tokens the chain generates from one row of signs; passes: a factor per level. */
export function generate(tree, attention, signs, passes = null) {
  const tokens = new Float64Array(tree.size);
  tokens.set(signs);
  for (let node = 0; node < attention.length; node++) {
    const column = attention[node];
    let z = 0;
    for (let j = 0; j < column.length; j++) z += column[j] * tokens[j];
    tokens[tree.n + node] = link(z) * (passes ? passes[tree.levels[node] - 1] : 1);
  }
  return tokens;
}

/**
 * Theorem 7 of KS: one level per gradient step on the generated chain, with filter and rounding.
 *
 * rows: training signs. hints: unlabelled signs of the filter. Returns log2(k) + 1 states, before
 * every step and at the end: scores, raw (before rounding), passes, solved levels.
 */
export function learnLevels(tree, rows, hints, { eta, epsilon = 1.6, rounding = true }) {
  let scores = untrained(tree, "level");
  let raw = scores;
  const states = [];
  const depth = tree.ends.length - 1;
  for (let step = 0; step <= depth; step++) {
    const passes = filterLevels(tree, scores, hints, epsilon);
    states.push({ scores, raw, passes, levels: levelsSolved(tree, scores) });
    if (step === depth) break;
    const gradient = openLevelGradient(tree, scores, passes, rows);
    raw = scores.map((column, node) => column.map((each, j) => each - eta * gradient[node][j]));
    scores = rounding ? raw.map((column) => column.map(roundHalfEven)) : raw;
  }
  return states;
}

/** The nearest integer; of two equally near ones the even one, as numpy rounds. */
export function roundHalfEven(value) {
  const below = Math.floor(value);
  if (value - below !== 0.5) return Math.round(value);
  return below % 2 ? below + 1 : below;
}

/** 1 for every level that the filter lets through, 0 for those it silences. */
export function filterLevels(tree, scores, hints, epsilon) {
  const attention = chainAttention(scores);
  const count = hints.length / tree.n;
  const passes = [];
  const farthest = new Float64Array(tree.size);
  const rows = Array.from({ length: count }, (_, row) => {
    const tokens = new Float64Array(tree.size);
    tokens.set(hints.subarray(row * tree.n, (row + 1) * tree.n));
    return tokens;
  });
  for (let level = 1; level < tree.ends.length; level++) {
    const [from, to] = [level === 1 ? 0 : tree.ends[level - 2], tree.ends[level - 1]];
    let stuck = false;
    for (let j = from; j < to; j++) {
      for (const tokens of rows) farthest[j] = Math.max(farthest[j], Math.abs(tokens[j] + 1));
      stuck ||= farthest[j] < epsilon;
    }
    passes.push(stuck ? 0 : 1);
    for (let token = to; token < tree.ends[level]; token++) {
      const column = attention[token - tree.n];
      for (const tokens of rows) {
        let z = 0;
        for (let j = 0; j < column.length; j++) z += column[j] * tokens[j];
        tokens[token] = passes[level - 1] * link(z);
      }
    }
  }
  return passes;
}

/** The gradient of the lowest level without any weight yet, in closed form; 0 elsewhere. */
function openLevelGradient(tree, scores, passes, rows) {
  const gradient = scores.map((column) => new Float64Array(column.length));
  const isTrained = (level) =>
    scores.some((column, node) => tree.levels[node] === level && column.some((w) => w !== 0));
  let level = 1;
  while (level < tree.ends.length && isTrained(level)) level++;
  if (level === tree.ends.length || !passes[level - 1]) return gradient;
  const attention = chainAttention(scores);
  const nodes = gradient.map((_, node) => node).filter((node) => tree.levels[node] === level);
  const seen = tree.ends[level - 1];
  const below = attention.slice(0, nodes[0]);
  const samples = rows.length / tree.n;
  for (let row = 0; row < samples; row++) {
    const signs = rows.subarray(row * tree.n, (row + 1) * tree.n);
    const truth = trueTokens(tree, signs);
    const made = generate(tree, below, signs, passes);
    let z = 0;
    for (let j = 0; j < seen; j++) z += made[j] / seen;
    const slope = linkSlope(z) / (seen * samples);
    for (const node of nodes) {
      const residual = (link(z) - truth[tree.n + node]) * slope;
      for (let j = 0; j < seen; j++) gradient[node][j] += residual * (made[j] - z);
    }
  }
  return gradient;
}

/** How many levels, from the bottom, have equal children 1 above everything else. */
export function levelsSolved(tree, scores) {
  const good = pairScores(tree, scores).map(
    ({ children, others }) =>
      Math.abs(children[0] - children[1]) < 0.2 && Math.min(...children) > others + 1,
  );
  let level = 1;
  const done = (at) => good.every((ok, node) => ok || tree.levels[node] !== at);
  while (level < tree.ends.length && done(level)) level++;
  return level - 1;
}

/** Scores of every node's children and the highest among the other tokens it sees. */
export function pairScores(tree, scores) {
  return scores.map((column, node) => {
    const pair = tree.children[node];
    let others = -Infinity;
    column.forEach((score, j) => {
      if (!pair.includes(j) && score > others) others = score;
    });
    return { children: pair.map((j) => column[j]), others };
  });
}

/** Whether each node's two children outscore every other token it sees. */
export function pairsFound(tree, scores) {
  return pairScores(tree, scores).map(({ children, others }) => Math.min(...children) > others);
}

/**
 * The generated answer on every input up to n = 16, on 10,000 fresh rows above.
 *
 * right: share of answers with the right sign. risk: ½ mean (ŷ - y)². solved: all right, risk below
 * 0.01 and every pair found.
 */
export function judgeChain(tree, scores, seed, run) {
  const attention = chainAttention(scores);
  const every = tree.n <= ENUMERATED_BITS;
  const rows = every ? 2 ** tree.n : FRESH;
  const fresh = every ? null : drawSigns(foldIn(runKey(seed, run), 2), rows, tree.n);
  let [wrong, loss] = [0, 0];
  for (let row = 0; row < rows; row++) {
    const signs = every ? signsOf(row, tree.n) : fresh.subarray(row * tree.n, (row + 1) * tree.n);
    const y = trueTokens(tree, signs)[tree.size - 1];
    const answer = generate(tree, attention, signs)[tree.size - 1];
    if (!(answer * y > 0)) wrong += 1;
    loss += (answer - y) ** 2 / 2;
  }
  const pairs = pairsFound(tree, scores);
  const risk = loss / rows;
  return {
    right: 1 - wrong / rows,
    risk,
    rows,
    pairs,
    solved: wrong === 0 && risk < SOLVED_LOSS && pairs.every(Boolean),
  };
}

/** Unlabelled strings of the filter for run `run` of a seed. */
export function hintRows(tree, seed, run, strings = 256) {
  return drawSigns(foldIn(runKey(seed, run), 3), strings, tree.n);
}

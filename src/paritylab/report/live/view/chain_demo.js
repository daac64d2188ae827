/** Demo 3: a chain of thought learns a parity of many bits in one step, or a level per step. */

import {
  chainAttention, generate, hintRows, judgeChain, learnLevels, pairScores, teacherStep,
  trainingRows, untrained,
} from "../engine/chain.js";
import { drawSigns, parityTree, randomSubset, trueTokens } from "../engine/problem.js";
import { keyOf, runKey } from "../engine/random.js";
import { levelStep, samplesToFindChildren, usualStep } from "../engine/theory.js";
import { oneOf, readAddress, realNumber, wholeNumber, writeAddress } from "./address.js";
import { heatMap } from "./charts.js";
import {
  breathe, button, choice, digits, download, el, picture, slider, svg, whenQuiet, wholeWidth,
} from "./dom.js";
import { player } from "./player.js";
import { chainRun } from "./runs.js";
import { treePicture } from "./tree.js";

const USUAL = { n: 32, k: 8, method: "teacher", logN: 15, size: 1, seed: 0, input: 0 };
const METHODS = { teacher: "teacher forcing: one step", levels: "levels: one step per level" };

/** Builds the demo into its place. */
export function chainDemo(place) {
  const asked = readAddress("chain");
  const settings = {
    n: wholeNumber(asked.n, 4, 32, USUAL.n),
    k: Number(oneOf(asked.k, ["2", "4", "8", "16"], String(USUAL.k))),
    method: oneOf(asked.method, Object.keys(METHODS), USUAL.method),
    logN: realNumber(asked.logN, 5, 17, USUAL.logN),
    size: realNumber(asked.size, 0.25, 4, USUAL.size),
    seed: wholeNumber(asked.seed, 0, 2 ** 31, USUAL.seed),
    input: wholeNumber(asked.input, 0, 2 ** 31, USUAL.input),
  };
  if (settings.k > settings.n) settings.k = 4;
  let run = null;
  let signs = null;
  let tree = null;
  let attention = null;
  let computing = 0;

  const [stage, maps, scoreBox] = [el("div", { class: "wide" }), el("div", { class: "two" }), el("div")];
  const said = el("p", { class: "said", role: "status", "aria-live": "polite" });
  const moments = player({ show: fill, seconds: 3, name: "Chain" });

  const samples = () => Math.round(2 ** settings.logN);

  /** Train: rows, scores and the judgement. */
  async function compute() {
    const mine = ++computing;
    said.textContent = `Learning from ${samples().toLocaleString("en")} samples …`;
    await breathe();
    if (mine !== computing) return;
    const { n, k, method, seed, size } = settings;
    tree = parityTree(n, randomSubset(runKey(seed, 0), n, k));
    const rows = trainingRows(tree, seed, 0, samples());
    if (method === "teacher") {
      const scores = teacherStep(tree, rows, size * usualStep(n, k));
      run = { states: [{ scores: untrained(tree, "token") }, { scores, raw: scores }] };
    } else {
      const eta = size * levelStep(n, k, samples());
      run = { states: learnLevels(tree, rows, hintRows(tree, seed, 0), { eta }) };
    }
    run.end = run.states[run.states.length - 1];
    run.judged = judgeChain(tree, run.end.scores, seed, 0);
    attention = chainAttention(run.end.scores);
    signs = drawSigns(keyOf(settings.input), 1, n);
    drawAll();
    place.dataset.ready = String(mine);
  }
  const computeSoon = whenQuiet(compute);

  function drawAll() {
    writeAddress("chain", settings, USUAL);
    const rows = tree.children.map((_, node) => String(tree.n + node));
    const marked = (node, token) => tree.children[node].includes(token);
    const shared = { tokens: tree.size - 1, rows, marked };
    const map = (title, columns) => heatMap({ ...shared, title, columns, label: `${title}, a row per node` });
    const before = chainAttention(run.states[0].scores);
    maps.replaceChildren(
      el("div", {}, map("attention before: equal shares", before)),
      el("div", {}, map("attention after (frames: the true children)", attention)),
    );
    scoreBox.replaceChildren(scorePicture());
    stage.replaceChildren(treePicture({ tree, attention, onflip: flip }));
    moments.length(tree.ends.length);
    moments.go(tree.ends.length - 1);
  }

  /** Scores of all children by level, with the half-integers at which rounding goes wrong. */
  function scorePicture() {
    const [width, height, left, top] = [wholeWidth(), 150, 46, 24];
    // A child's score as the step made it: the first state in which its node has any weight.
    const raw = tree.children.map((_, node) => {
      const made = run.states.find(({ raw: each }) => each && each[node].some((w) => w !== 0));
      return (made ?? run.end).raw?.[node] ?? run.end.scores[node];
    });
    const pairs = pairScores(tree, raw);
    const values = pairs.flatMap(({ children, others }) => [...children, others]).filter(Number.isFinite);
    const [low, high] = [Math.min(0, ...values) - 0.5, Math.max(1, ...values) + 0.5];
    const up = (value) => height - 14 - ((value - low) / (high - low)) * (height - 14 - top);
    const slot = (width - left - 12) / tree.children.length;
    const levels = settings.method === "levels";
    const title = levels
      ? "scores before rounding (dashed: half-integers)"
      : "scores of both children, and of the best other token (ring)";
    const parts = [svg("text", { class: "title", x: left, y: 14 }, title)];
    const stride = Math.max(1, Math.round((high - low) / (levels ? 12 : 5)));
    for (let value = Math.ceil(low); value <= high; value += stride) {
      const at = up(levels ? value - 0.5 : value);
      const kind = levels ? "level" : "grid";
      parts.push(svg("line", { class: kind, x1: left, x2: width - 12, y1: at, y2: at }));
      parts.push(svg("text", { class: "tick", x: left - 5, y: up(value) + 4, "text-anchor": "end" }, String(value)));
    }
    pairs.forEach(({ children, others }, node) => {
      const x = left + slot * (node + 0.5);
      children.forEach((value, i) => {
        parts.push(svg("circle", { class: "dot", cx: x + (i ? 5 : -5), cy: up(value), r: 4.5 }));
      });
      if (Number.isFinite(others)) parts.push(svg("circle", { class: "ring", cx: x, cy: up(others), r: 4 }));
    });
    return picture(width, height, title, ...parts);
  }

  function fill(level) {
    const truth = trueTokens(tree, signs);
    const made = generate(tree, attention, signs);
    const drawing = stage.firstChild;
    drawing.show(made, truth, level);
    const right = made[tree.size - 1] * truth[tree.size - 1] > 0;
    const answer = level < tree.ends.length - 1
      ? `Tokens up to level ${level} of ${tree.ends.length - 1}.`
      : `Answer ${digits(made[tree.size - 1])}, truth ${truth[tree.size - 1]}: ${right ? "right" : "wrong"}.`;
    drawing.setAttribute("aria-label", `Tree over ${tree.k} of ${tree.n} bits. ${answer}`);
    said.textContent = `${answer} ${judgement()}`;
  }

  function judgement() {
    const { right, rows, pairs, risk } = run.judged;
    const found = pairs.filter(Boolean).length;
    const every = right === 1 ? "right on every one of" : `right on ${digits(100 * right)} % of`;
    const levels = settings.method === "levels"
      ? `; levels solved after each step: ${run.states.map((state) => state.levels).join(", ")}`
      : "";
    const needed = Math.round(samplesToFindChildren(tree.n, tree.k));
    return (
      `From ${samples().toLocaleString("en")} samples (theory: enough from about ` +
      `${needed.toLocaleString("en")}): ` +
      `${found} of ${pairs.length} nodes found their children; ${every} ${rows.toLocaleString("en")} ` +
      `inputs, ½ mean (ŷ-y)² = ${digits(risk)}${levels}.`
    );
  }

  function flip(j) {
    signs[j] *= -1;
    fill(moments.at());
  }

  const change = (name) => (value) => {
    settings[name] = value;
    computeSoon();
  };
  const sizeSlider = slider("bits n", {
    min: 4, max: 32, value: settings.n, onchange: (value) => {
      settings.n = value;
      if (settings.k > value) kChoice.set((settings.k = 4));
      computeSoon();
    },
  });
  const kChoice = choice("leaves k", {
    options: { 2: "2", 4: "4", 8: "8", 16: "16" }, value: settings.k, onchange: (value) => {
      settings.k = Number(value);
      if (settings.k > settings.n) sizeSlider.set((settings.n = 2 * settings.k));
      compute();
    },
  });
  place.append(
    el("div", { class: "panel" },
      el("div", { class: "controls" },
        choice("method", { options: METHODS, value: settings.method, onchange: change("method") }),
        slider("samples N", {
          min: 5, max: 17, step: 0.25, value: settings.logN,
          show: (value) => Math.round(2 ** value).toLocaleString("en"), onchange: change("logN"),
        }),
        slider("step size, × usual", {
          min: 0.25, max: 3, step: 0.01, value: settings.size, show: digits, onchange: change("size"),
        }),
        sizeSlider, kChoice),
      stage, moments, said, maps, scoreBox,
      el("div", { class: "buttons" },
        button("Another input", () => {
          settings.input += 1;
          signs = drawSigns(keyOf(settings.input), 1, settings.n);
          writeAddress("chain", settings, USUAL);
          moments.go(moments.at());
        }),
        button("Another tree and sample", () => {
          settings.seed += 1;
          compute();
        }),
        button("Download this run", () => {
          const states = run.states.map((state) => state.scores);
          const risks = states.map((scores) => judgeChain(tree, scores, settings.seed, 0).risk);
          const end = run.judged.solved ? "solved" : "not solved";
          const { method, seed } = settings;
          download("paritylab-chain.json", chainRun({ tree, method, seed, states, risks, end }));
        }))),
  );
  compute();
}

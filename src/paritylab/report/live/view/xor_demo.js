/** Demo 2: two heads learn y = -x_i·x_j in one gradient step. */

import { ATTENTION } from "../engine/models.js";
import { indicator } from "../engine/problem.js";
import { defaultGain, usualWidth } from "../engine/theory.js";
import { drawPositions, SOLVED_ERROR, worstCase, xorRisk, xorStep } from "../engine/xor.js";
import { oneOf, positions, readAddress, realNumber, wholeNumber, writeAddress } from "./address.js";
import { barChart, lineChart } from "./charts.js";
import {
  button,
  choice,
  copyLink,
  digits,
  el,
  field,
  slider,
  whenQuiet,
  wholeWidth,
} from "./dom.js";
import { pythonPlace } from "./python.js";

const USUAL = {
  n: 64,
  width: 50,
  gain: 14,
  kind: "softmax",
  positions: "balanced",
  pair: "11,40",
  seed: 0,
};
/** Gains of the curve, from ½ to 100. */
const GAINS = Array.from({ length: 70 }, (_, i) => 0.5 * 200 ** (i / 69));

/** Where the axis of the curve ends. */
const FLOOR = 1e-6;
const FLOOR_NOTE =
  `The axis ends at ${digits(FLOOR)}: smaller errors are drawn at the lower edge, ` +
  "which is no floor of the model.";

const KINDS = {
  softmax: "softmax",
  sigmoid: "sigmoid, no bias",
  biased: "sigmoid with bias 0.7·gain",
  linear: "linear",
};

/** Where Python finds the positions that this page draws. */

/** Two positions below n from text, or null. */
function pairFrom(text, n) {
  const found = positions(text, n, 2);
  return found?.length === 2 ? found : null;
}

/** The settings that the address asks for; what makes no sense there is the usual setting. */
function readSettings() {
  const asked = readAddress("xor");
  const n = 2 * Math.round(wholeNumber(asked.n, 8, 256, USUAL.n) / 2);
  return {
    n,
    width: wholeNumber(asked.width, 2, 200, USUAL.width),
    gain: realNumber(asked.gain, 0.5, 100, USUAL.gain),
    kind: oneOf(asked.kind, Object.keys(ATTENTION), USUAL.kind),
    positions: oneOf(asked.positions, ["balanced", "signs"], USUAL.positions),
    pair: pairFrom(asked.pair ?? USUAL.pair, n) ?? [1, n / 2],
    seed: wholeNumber(asked.seed, 0, 2 ** 31, USUAL.seed),
  };
}

/** Builds the demo into its place. */
export function xorDemo(place) {
  const demo = {
    settings: readSettings(),
    before: el("div"),
    after: el("div"),
    curve: el("div"),
    said: el("p", { class: "said", role: "status", "aria-live": "polite" }),
    python: pythonPlace(),
  };
  const again = button("Another draw of positions", () => {
    demo.settings.seed += 1;
    redraw(demo);
  });
  place.append(
    el(
      "div",
      { class: "panel" },
      el("div", { class: "controls" }, makeControls(demo)),
      el("div", { class: "two" }, demo.before, demo.after),
      demo.curve,
      demo.said,
      el("div", { class: "buttons" }, again, copyLink()),
      demo.python.node,
    ),
  );
  redraw(demo);
  place.dataset.ready = "1";
}

function makeControls(demo) {
  const { settings } = demo;
  const kind = choice("attention", {
    options: KINDS,
    value: settings.kind,
    onchange: (value) => {
      settings.kind = value;
      show(demo);
    },
  });
  const code = choice("positions", {
    options: { balanced: "balanced signs", signs: "random signs" },
    value: settings.positions,
    onchange: (value) => {
      settings.positions = value;
      redraw(demo);
    },
  });
  return [kind, gainSlider(demo), code, ...sizeControls(demo)];
}

/** The gain on a scale of powers of ten. */
function gainSlider(demo) {
  const { settings } = demo;
  demo.gain = slider("gain (size of the step)", {
    min: -30,
    max: 200,
    value: 100 * Math.log10(settings.gain),
    show: (value) => digits(10 ** (value / 100)),
    onchange: (value) => {
      settings.gain = Number((10 ** (value / 100)).toPrecision(3));
      show(demo);
    },
  });
  return demo.gain;
}

/** n, the width of the positions and the hidden pair. */
function sizeControls(demo) {
  const { settings } = demo;
  const soon = whenQuiet(() => redraw(demo));
  const pair = field("hidden pair", {
    value: settings.pair.join(", "),
    size: 8,
    hint: "two positions such as 11, 40",
    onchange: (text) => {
      const next = pairFrom(text, settings.n);
      if (!next) return `two numbers below ${settings.n}`;
      settings.pair = next;
      redraw(demo);
      return "";
    },
  });
  const width = slider("numbers per position m", {
    min: 2,
    max: 200,
    value: settings.width,
    onchange: (value) => {
      settings.width = value;
      soon();
    },
  });
  const n = slider("positions n", {
    min: 8,
    max: 256,
    step: 2,
    value: settings.n,
    onchange: (value) => {
      const gain = Number(defaultGain(value).toPrecision(3));
      Object.assign(settings, { n: value, gain, width: Math.min(200, usualWidth(value)) });
      if (settings.pair.some((j) => j >= value)) settings.pair = [1, value / 2];
      width.set(settings.width);
      demo.gain.set(100 * Math.log10(gain));
      pair.set(settings.pair.join(", "));
      soon();
    },
  });
  return [n, width, pair];
}

/** New positions: everything is computed again. */
function redraw(demo) {
  const { n, width, positions: code, pair, seed } = demo.settings;
  demo.table = drawPositions(code, seed, n, width);
  const worst = (kind) => (gain) =>
    worstCase(xorStep(demo.table, n, pair, gain, kind).weights, pair).error;
  const curves = Object.keys(KINDS).map((kind) => [kind, GAINS.map(worst(kind))]);
  demo.curves = Object.fromEntries(curves);
  show(demo);
}

/** The step at the present gain and kind. */
function show(demo) {
  const { n, pair, gain, kind } = demo.settings;
  writeAddress("xor", { ...demo.settings, pair: pair.join(",") }, USUAL);
  const step = xorStep(demo.table, n, pair, gain, kind);
  const flags = indicator(n, pair);
  const range = (values, most) => ({
    flags,
    least: Math.min(0, ...values),
    most: Math.max(most, ...values),
  });
  const [scores, shares] = [range(step.scores, 1), range(step.weights, 0.5)];
  const zero = new Float64Array(n);
  demo.before.replaceChildren(
    barChart({ title: "scores before the step", values: zero, ...scores }),
    barChart({ title: "attention before", values: step.before, ...shares }),
  );
  demo.after.replaceChildren(
    barChart({ title: "scores after the step", values: step.scores, ...scores }),
    barChart({ title: "attention after (right: ½ on both)", values: step.weights, ...shares }),
  );
  demo.curve.replaceChildren(windowChart(demo), el("p", { class: "small" }, FLOOR_NOTE));
  demo.said.textContent = verdict(demo, step);
  demo.python.show(pythonLine(demo.settings));
}

/** The same run in Python, as one line. */
function pythonLine({ n, width, gain, kind, positions: code, pair, seed }) {
  const own = `lambda scores: jax.nn.sigmoid(scores - ${0.7 * gain}) / 2`;
  const attention = kind === "biased" ? own : `"${kind}"`;
  const table = `page_positions("${code}", ${seed}, ${n}, ${width})`;
  const learner = `Heads.pair(positions=${table}, gain=${gain}, attention=${attention})`;
  const target = `Parity(${n}, (${pair.join(", ")}), sign=-1)`;
  return `learn(${learner}, Population(${target}), runs=1)`;
}

/** The worst error of every kind against the gain; the chosen kind stands out. */
function windowChart({ curves, settings }) {
  const others = Object.keys(curves).filter((kind) => kind !== settings.kind);
  const lines = [...others, settings.kind].map((kind) => ({
    x: GAINS,
    y: curves[kind],
    className: kind === settings.kind ? "risk" : "faint",
    name: KINDS[kind],
  }));
  const chart = lineChart({
    title: "worst |ŷ - y| over every input",
    width: wholeWidth(),
    height: 230,
    x: { low: GAINS[0], high: 100, log: true, name: "gain" },
    y: { low: FLOOR, high: 1e4, log: true },
    lines,
    levels: [{ y: SOLVED_ERROR, name: "below: right on every input", early: true }],
  });
  chart.mark(settings.gain);
  return chart;
}

/** What the step is worth, in words. */
function verdict({ settings, curves }, { scores, weights }) {
  const { n, pair, gain, kind } = settings;
  const worst = worstCase(weights, pair);
  const others = scores.filter((_, l) => !pair.includes(l));
  const ranked = Math.min(...pair.map((l) => scores[l])) > Math.max(...others);
  const right = worst.error <= SOLVED_ERROR ? "right on every input" : "wrong on some input";
  const inside = GAINS.filter((_, i) => curves[kind][i] <= SOLVED_ERROR);
  const window = inside.length
    ? `gains from ${digits(inside[0])} to ${digits(inside[inside.length - 1])} are right`
    : "no gain up to 100 is right for this draw";
  return (
    `Gain ${digits(gain)}: the pair has ${ranked ? "" : "not "}the two largest scores; the worst ` +
    `error over all 2^${n} inputs is ${worst.exact ? "" : "at most "}${digits(worst.error)}, ` +
    `${right}; mean loss ${digits(Math.max(xorRisk(weights, pair), 0))}. In the window: ${window}.`
  );
}

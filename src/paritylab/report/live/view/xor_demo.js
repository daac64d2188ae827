/** Demo 2: two heads learn y = -x_i·x_j in one gradient step. */

import { ATTENTION } from "../engine/models.js";
import { indicator } from "../engine/problem.js";
import { defaultGain, usualWidth } from "../engine/theory.js";
import { drawPositions, SOLVED_ERROR, worstCase, xorRisk, xorStep } from "../engine/xor.js";
import { oneOf, positions, readAddress, realNumber, wholeNumber, writeAddress } from "./address.js";
import { barChart, lineChart } from "./charts.js";
import { button, choice, digits, el, field, slider, whenQuiet, wholeWidth } from "./dom.js";

const USUAL = {
  n: 64, width: 50, gain: 14, kind: "softmax", positions: "balanced", pair: "11,40", seed: 0,
};
const GAINS = Array.from({ length: 70 }, (_, i) => 0.5 * 200 ** (i / 69));

const KINDS = {
  softmax: "softmax",
  sigmoid: "sigmoid, no bias",
  biased: "sigmoid with bias 0.7·gain",
  linear: "linear",
};

/** Builds the demo into its place. */
export function xorDemo(place) {
  const asked = readAddress("xor");
  const n = 2 * Math.round(wholeNumber(asked.n, 8, 256, USUAL.n) / 2);
  const settings = {
    n,
    width: wholeNumber(asked.width, 2, 200, USUAL.width),
    gain: realNumber(asked.gain, 0.5, 100, USUAL.gain),
    kind: oneOf(asked.kind, Object.keys(ATTENTION), USUAL.kind),
    positions: oneOf(asked.positions, ["balanced", "signs"], USUAL.positions),
    pair: pairFrom(asked.pair ?? USUAL.pair, n) ?? [1, n / 2],
    seed: wholeNumber(asked.seed, 0, 2 ** 31, USUAL.seed),
  };
  let table = null;
  let curves = null;
  const [before, after, windowBox] = [el("div"), el("div"), el("div")];
  const said = el("p", { class: "said", role: "status", "aria-live": "polite" });

  function pairFrom(text, size) {
    const found = positions(text, size, 2);
    return found?.length === 2 ? found : null;
  }

  /** New positions: everything is computed again. */
  function redraw() {
    table = drawPositions(settings.positions, settings.seed, settings.n, settings.width);
    curves = {};
    for (const kind of Object.keys(ATTENTION)) {
      curves[kind] = GAINS.map((gain) => {
        const { weights } = xorStep(table, settings.n, settings.pair, gain, kind);
        return worstCase(weights, settings.pair).error;
      });
    }
    show();
  }
  const redrawSoon = whenQuiet(redraw);

  function show() {
    const { n: size, pair, gain, kind } = settings;
    writeAddress("xor", { ...settings, pair: pair.join(",") }, USUAL);
    const step = xorStep(table, size, pair, gain, kind);
    const worst = worstCase(step.weights, pair);
    const flags = indicator(size, pair);
    const zero = new Float64Array(size);
    const low = Math.min(0, ...step.scores);
    const high = Math.max(1, ...step.scores);
    const most = Math.max(0.5, ...step.weights);
    const floor = Math.min(0, ...step.weights);
    const scores = { flags, least: low, most: high };
    const shares = { flags, least: floor, most };
    before.replaceChildren(
      barChart({ title: "scores before the step", values: zero, ...scores }),
      barChart({ title: "attention before", values: step.before, ...shares }),
    );
    after.replaceChildren(
      barChart({ title: "scores after the step", values: step.scores, ...scores }),
      barChart({ title: "attention after (right: ½ on both)", values: step.weights, ...shares }),
    );
    windowBox.replaceChildren(windowChart());
    said.textContent = verdict(step, worst);
  }

  function windowChart() {
    const others = Object.keys(curves).filter((kind) => kind !== settings.kind);
    const lines = [...others, settings.kind].map((kind) => ({
      x: GAINS, y: curves[kind], className: kind === settings.kind ? "risk" : "faint",
    }));
    const chart = lineChart({
      title: "worst |ŷ - y| over every input, by gain", height: 230, width: wholeWidth(),
      x: { low: GAINS[0], high: 100, log: true, name: "gain" },
      y: { low: 1e-6, high: 1e4, log: true },
      lines, levels: [{ y: SOLVED_ERROR, name: "right on every input below" }],
    });
    chart.mark(settings.gain);
    return chart;
  }

  function verdict(step, worst) {
    const { n: size, pair, gain } = settings;
    const order = Array.from(step.scores, (_, l) => l).sort((a, b) => step.scores[b] - step.scores[a]);
    const ranked = order.slice(0, 2).every((l) => pair.includes(l));
    const right = worst.error <= SOLVED_ERROR;
    const bound = worst.exact ? "" : "at most ";
    const inside = curves[settings.kind].filter((error) => error <= SOLVED_ERROR).length;
    const open = inside
      ? `${gainsRight()} are right`
      : "no gain up to 100 is right for this draw";
    return (
      `Gain ${digits(gain)}: the pair has ${ranked ? "" : "not "}the two largest scores; the worst ` +
      `error over all 2^${size} inputs is ${bound}${digits(worst.error)}, ` +
      `${right ? "right on every input" : "wrong on some input"}; mean loss ` +
      `${digits(Math.max(xorRisk(step.weights, pair), 0))}. In the window: ${open}.`
    );
  }

  function gainsRight() {
    const right = GAINS.filter((_, i) => curves[settings.kind][i] <= SOLVED_ERROR);
    return `gains from ${digits(right[0])} to ${digits(right[right.length - 1])}`;
  }

  const change = (name) => (value) => {
    settings[name] = value;
    redrawSoon();
  };
  const pairField = field("hidden pair", {
    value: settings.pair.join(", "), size: 8, hint: "two positions such as 11, 40",
    onchange: (text) => {
      const next = pairFrom(text, settings.n);
      if (!next) return `two numbers below ${settings.n}`;
      settings.pair = next;
      redraw();
      return "";
    },
  });
  const widthSlider = slider("numbers per position m", {
    min: 2, max: 200, value: settings.width, onchange: change("width"),
  });
  const sizeSlider = slider("positions n", {
    min: 8, max: 256, step: 2, value: settings.n, onchange: (value) => {
      settings.n = value;
      settings.width = Math.min(200, usualWidth(value));
      widthSlider.set(settings.width);
      gainSlider.set(100 * Math.log10(defaultGain(value)));
      settings.gain = Number(defaultGain(value).toFixed(1));
      if (settings.pair.some((j) => j >= value)) settings.pair = [1, value / 2];
      pairField.set(settings.pair.join(", "));
      redrawSoon();
    },
  });
  const gainSlider = slider("gain (size of the step)", {
    min: -30, max: 200, value: 100 * Math.log10(settings.gain),
    show: (value) => digits(10 ** (value / 100)), onchange: (value) => {
      settings.gain = Number((10 ** (value / 100)).toPrecision(3));
      show();
    },
  });
  place.append(
    el("div", { class: "panel" },
      el("div", { class: "controls" },
        choice("attention", {
          options: KINDS, value: settings.kind, onchange: (kind) => {
            settings.kind = kind;
            show();
          },
        }),
        gainSlider,
        choice("positions", {
          options: { balanced: "balanced signs", signs: "random signs" }, value: settings.positions,
          onchange: change("positions"),
        }),
        sizeSlider, widthSlider, pairField),
      el("div", { class: "two" }, before, after), windowBox, said,
      el("div", { class: "buttons" }, button("Another draw of positions", () => {
        settings.seed += 1;
        redraw();
      }))),
  );
  redraw();
  place.dataset.ready = "1";
}

/** Your own link: a readout, a temperature and a loss from the reader, a hundred runs, a rate. */

import { LISTED } from "../engine/enumerated.js";
import { SOLVED_RISK } from "../engine/heads.js";
import { endOf, heatFrom, lossFrom, readoutFrom, startOwn } from "../engine/own.js";
import { rateInterval } from "../engine/statistics.js";
import { oneOf, positions, readAddress, realNumber, wholeNumber, writeAddress } from "./address.js";
import { lineChart } from "./charts.js";
import { button, choice, copyLink, el, field, pace, share, slider } from "./dom.js";
import { pythonPlace } from "./python.js";

const RUNS = 100;
const USUAL = {
  readout: "2*(s-1)^2 - 1",
  tau: "n/4",
  loss: "squared_hinge",
  n: 10,
  hidden: "2,7",
  optimiser: "adam",
  eta: 0.1,
  steps: 300,
  seed: 0,
};
const NAMED = {
  squared_hinge: "squared hinge",
  mean_hinge_squared: "(mean hinge)²",
  hinge: "hinge",
  squared: "half squared error",
  correlation: "correlation",
};

/** Builds the demo into its place. */
export function ownDemo(place) {
  const demo = { place, settings: readSettings(), turn: 0, busy: false };
  demo.curve = el("div");
  demo.said = el("p", { class: "said", role: "status", "aria-live": "polite" });
  demo.bar = el("progress", { max: RUNS, value: 0, "aria-label": "runs done", hidden: true });
  demo.past = el("ul", { class: "past", "aria-label": "Rates so far" });
  demo.python = pythonPlace();
  demo.start = button(`Run ${RUNS}`, () => (demo.busy ? (demo.turn += 1) : count(demo)), {
    class: "strong",
  });
  place.append(
    el(
      "div",
      { class: "panel" },
      el("div", { class: "controls" }, formulas(demo), sizes(demo)),
      el("div", { class: "two" }, demo.curve, el("div", {}, demo.bar, demo.said, demo.past)),
      el("div", { class: "buttons" }, demo.start, copyLink()),
      demo.python.node,
    ),
  );
  changed(demo);
}

function readSettings() {
  const asked = readAddress("own");
  const n = wholeNumber(asked.n, 4, LISTED, USUAL.n);
  const hidden = positions(asked.hidden ?? USUAL.hidden, n, 4) ?? [0, 2];
  const settings = { ...USUAL, n, hidden };
  for (const name of ["readout", "tau", "loss"]) {
    if (asked[name] !== undefined && !complaint({ ...settings, [name]: asked[name] })) {
      settings[name] = asked[name];
    }
  }
  settings.optimiser = oneOf(asked.optimiser, ["sgd", "adam"], USUAL.optimiser);
  settings.eta = realNumber(asked.eta, 1e-4, 10, USUAL.eta);
  settings.steps = wholeNumber(asked.steps, 1, 3000, USUAL.steps);
  settings.seed = wholeNumber(asked.seed, 0, 2 ** 31, USUAL.seed);
  return settings;
}

/** What is wrong with the typed parts; "" if nothing is. */
function complaint(settings) {
  try {
    partsOf(settings);
    return "";
  } catch (error) {
    return error.message;
  }
}

function partsOf({ readout, tau, loss, n, hidden }) {
  return {
    readout: readoutFrom(readout, hidden.length),
    heat: heatFrom(tau, n),
    loss: lossFrom(loss),
  };
}

/** A field whose text becomes a setting if the parts can then be built. */
function formula(demo, name, text, size, hint) {
  return field(text, {
    value: demo.settings[name],
    size,
    hint,
    onchange: (typed) => {
      const wrong = complaint({ ...demo.settings, [name]: typed.trim() });
      if (wrong) return wrong;
      demo.settings[name] = typed.trim();
      changed(demo);
      return "";
    },
  });
}

function formulas(demo) {
  const { settings } = demo;
  const own = formula(demo, "loss", "or your own loss of m = y·ŷ", 18, "log(1 + exp(-m))");
  own.set(Object.hasOwn(NAMED, settings.loss) ? "" : settings.loss);
  const named = choice("loss", {
    options: { ...NAMED, own: "your own" },
    value: Object.hasOwn(NAMED, settings.loss) ? settings.loss : "own",
    onchange: (name) => {
      settings.loss = name === "own" ? "log(1 + exp(-m))" : name;
      own.set(name === "own" ? settings.loss : "");
      own.hidden = name !== "own";
      changed(demo);
    },
  });
  own.hidden = Object.hasOwn(NAMED, settings.loss);
  return [
    formula(
      demo,
      "readout",
      "readout h(s), s from 0 to k",
      22,
      "cos(pi*s), 1 - 4*relu(s-1/2) + 12*relu(s-3/2)",
    ),
    formula(demo, "tau", "temperature τ(t), t from 0 to 1", 16, "n/4, 1/n, (1/n^2)^t"),
    named,
    own,
  ];
}

function sizes(demo) {
  const { settings } = demo;
  const hidden = field("hidden positions", {
    value: settings.hidden.join(", "),
    size: 8,
    onchange: (text) => {
      const next = positions(text, settings.n, 4);
      if (!next) return `1 to 4 numbers below ${settings.n}`;
      settings.hidden = next;
      changed(demo);
      return "";
    },
  });
  const n = slider("positions n", {
    min: 4,
    max: LISTED,
    value: settings.n,
    onchange: (value) => {
      settings.n = value;
      settings.hidden = settings.hidden.filter((j) => j < value);
      if (!settings.hidden.length) settings.hidden = [0];
      hidden.set(settings.hidden.join(", "));
      changed(demo);
    },
  });
  const optimiser = choice("optimiser", {
    options: { adam: "Adam", sgd: "plain descent" },
    value: settings.optimiser,
    onchange: (name) => {
      settings.optimiser = name;
      changed(demo);
    },
  });
  return [
    n,
    hidden,
    optimiser,
    numberField(demo, "eta", "step η", 1e-4, 10),
    numberField(demo, "steps", "steps", 1, 3000),
  ];
}

function numberField(demo, name, text, low, high) {
  return field(text, {
    value: String(demo.settings[name]),
    size: 5,
    onchange: (typed) => {
      const read = name === "steps" ? wholeNumber : realNumber;
      const value = read(typed.trim(), low, high, null);
      if (value === null) return `from ${low} to ${high}`;
      demo.settings[name] = value;
      changed(demo);
      return "";
    },
  });
}

/** Other settings: the readout's curve, the program; counts of other settings stay below. */
function changed(demo) {
  const { settings } = demo;
  demo.turn += 1;
  demo.said.textContent = "";
  const wrong = complaint(settings); // a smaller k may leave a readout without a number
  if (wrong) {
    demo.said.textContent = wrong;
    return;
  }
  const k = settings.hidden.length;
  const { at } = readoutFrom(settings.readout, k);
  const s = Array.from({ length: 121 }, (_, i) => (k * i) / 120);
  const values = s.map(at);
  const chart = lineChart({
    title: "your readout h(s)",
    x: { low: 0, high: k, name: "attended sum s" },
    y: { low: Math.min(-1.2, ...values), high: Math.max(1.2, ...values) },
    lines: [{ x: s, y: values, className: "risk" }],
    levels: [
      { y: 1, name: "+1" },
      { y: -1, name: "−1" },
    ],
  });
  chart.querySelector(".cursor").remove(); // no moment to mark
  demo.curve.replaceChildren(chart);
  writeAddress("own", { ...settings, hidden: settings.hidden.join(",") }, USUAL);
  demo.python.show(pythonLine(settings));
  demo.place.dataset.ready = String(demo.turn);
}

/** A hundred runs from random starts while nobody stops them. */
async function count(demo) {
  const { settings } = demo;
  const [mine, parts, rest] = [++demo.turn, partsOf(settings), pace()];
  const counts = { done: 0, recovered: 0, solved: 0 };
  Object.assign(demo, { busy: true });
  demo.start.textContent = "Stop";
  demo.bar.hidden = false;
  while (counts.done < RUNS) {
    const run = startOwn({ ...settings, subset: settings.hidden, ...parts, run: counts.done });
    while (run.count < run.steps && mine === demo.turn) {
      run.step();
      await rest();
    }
    if (mine !== demo.turn) break;
    const end = endOf(run, parts.readout);
    counts.done += 1;
    counts.recovered += end.recovered;
    counts.solved += end.solved;
    demo.bar.value = counts.done;
    demo.said.textContent = countText(counts);
  }
  Object.assign(demo, { busy: false });
  demo.start.textContent = `Run ${RUNS}`;
  demo.bar.hidden = true;
  if (counts.done === RUNS) {
    const { readout, tau, loss, n } = settings;
    demo.past.prepend(
      el(
        "li",
        {},
        `h = ${readout}, τ = ${tau}, ${NAMED[loss] ?? loss}, n = ${n}: ${countText(counts)}`,
      ),
    );
    demo.place.dataset.done = String(counts.recovered);
  }
}

function countText({ done, recovered, solved }) {
  const rate = (count) => share(count, done, rateInterval(count, done));
  const low = `risk below ${SOLVED_RISK} in ${rate(solved)}`;
  return `Heads on exactly the hidden bits in ${rate(recovered)}; ${low}.`;
}

/** The same runs in Python. */
function pythonLine(settings) {
  const { n, hidden, optimiser, eta, steps, seed } = settings;
  const { readout, heat, loss } = partsOf(settings);
  const set = `(${hidden.join(", ")}${hidden.length === 1 ? "," : ""})`;
  const parts = [`readout=${readout.python}`, `tau=${heat.python}`, `loss=${loss.python}`];
  parts.push(`optimiser="${optimiser}"`, `eta=${eta}`, `steps=${steps}`);
  const data = `Population(Parity(${n}, ${set}))`;
  return `learn(Heads(${parts.join(", ")}), ${data}, runs=${RUNS}, key=${seed})`;
}

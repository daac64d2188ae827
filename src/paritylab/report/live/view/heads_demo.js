/** Demo 1: k heads on a circle look for the hidden positions. */

import { lookAt, PROCEDURES, startRun, temperature } from "../engine/heads.js";
import { indicator, randomSubset } from "../engine/problem.js";
import { keyOf } from "../engine/random.js";
import { positions } from "./address.js";
import { circlePicture } from "./circle.js";
import { button, choice, copyLink, download, el, field, pace, slider, whenQuiet } from "./dom.js";
import { headsCounter } from "./heads_count.js";
import { headsCharts, momentText } from "./heads_pictures.js";
import {
  isStuck,
  keepSettings,
  LARGEST_N,
  MOST_HEADS,
  pythonLine,
  readSettings,
  runSettings,
  STUCK,
} from "./heads_settings.js";
import { player } from "./player.js";
import { pythonPlace } from "./python.js";
import { headsRun } from "./runs.js";

/** Moments of a run that are kept for the player. */
const MOMENTS = 150;

const NAMES = {
  paper: "paper: plain descent, τ = 1/n",
  code: "public code: Adam, τ = n/4",
  annealed: "annealed: cos readout, τ falls to 0.5/n²",
};

/** Builds the demo into its place. */
export function headsDemo(place) {
  const settings = readSettings();
  const demo = {
    place,
    settings,
    frames: [],
    turn: 0,
    charts: null,
    circle: null,
    stage: el("div", { class: "stage" }),
    side: el("div", { class: "side" }),
    said: el("p", { class: "said", role: "status", "aria-live": "polite" }),
    python: pythonPlace(),
    counter: headsCounter(settings),
  };
  demo.moments = player({
    show: (index) => showMoment(demo, index),
    glide: (position) => glide(demo, position),
    name: "Heads",
  });
  demo.controls = makeControls(demo);
  demo.stuck = stuckButton(demo);
  place.append(panel(demo));
  showTemperatures(demo);
  changed(demo, settings.moment);
}

/** All parts of the demo in their order. */
function panel(demo) {
  const { controls, counter } = demo;
  const next = button("Another start", () => {
    demo.settings.run += 1;
    changed(demo);
  });
  const set = button("Another hidden set", () => drawSet(demo, demo.settings.hidden.length));
  const keep = button("Download this run", () => {
    download("paritylab-heads.json", headsRun(demo.settings, demo.frames));
  });
  return el(
    "div",
    { class: "panel" },
    el("div", { class: "controls" }, Object.values(controls)),
    el("div", { class: "two" }, el("div", {}, demo.stage, demo.moments, demo.said), demo.side),
    el("div", { class: "buttons" }, next, set, demo.stuck, counter.buttons, keep, copyLink()),
    counter.said,
    counter.past,
    demo.python.node,
  );
}

/** The setting in which heads are proved to stay where they are. */
function stuckButton(demo) {
  return button("Stuck for ever", () => {
    const { controls, settings } = demo;
    Object.assign(settings, { ...STUCK, tauEnd: "" });
    controls.procedure.set(settings.procedure);
    controls.start.set(settings.start);
    controls.n.set(settings.n);
    showSet(demo, [...STUCK.hidden]);
    showTemperatures(demo);
    changed(demo, 0);
  });
}

function makeControls(demo) {
  const { settings } = demo;
  return {
    procedure: choice("procedure", {
      options: NAMES,
      value: settings.procedure,
      onchange: (name) => {
        Object.assign(settings, { procedure: name, tau: "", tauEnd: "" });
        showTemperatures(demo);
        changed(demo);
      },
    }),
    tau: heatField(demo, "temperature τ", "tau", 'a number, or "1/n", "1/n^2", "n/4"'),
    tauEnd: heatField(demo, "falling to", "tauEnd", 'a number, or "0.5/n^2"'),
    start: choice("heads start", {
      options: { random: "at random", hidden: "on the hidden bits", stuck: "at a proved minimum" },
      value: settings.start,
      onchange: (start) => {
        if (start === "stuck") return demo.stuck.click();
        settings.start = start;
        changed(demo);
        return undefined;
      },
    }),
    ...setControls(demo),
  };
}

/** n, k and the hidden positions. */
function setControls(demo) {
  const { settings } = demo;
  const soon = whenQuiet(() => changed(demo));
  return {
    n: slider("positions n", {
      min: 4,
      max: LARGEST_N,
      value: settings.n,
      onchange: (n) => {
        settings.n = n;
        const inside = settings.hidden.filter((j) => j < n);
        showSet(demo, inside.length ? inside : [0]);
        soon();
      },
    }),
    k: slider("hidden bits k", {
      min: 1,
      max: MOST_HEADS,
      value: settings.hidden.length,
      onchange: (k) => drawSet(demo, k),
    }),
    hidden: field("hidden positions", {
      value: settings.hidden.join(", "),
      size: 12,
      hint: "positions such as 2, 7, 12",
      onchange: (text) => {
        const next = positions(text, settings.n, MOST_HEADS);
        if (!next) return `1 to ${MOST_HEADS} numbers below ${settings.n}`;
        chooseSet(demo, next);
        return "";
      },
    }),
  };
}

function heatField(demo, text, name, hint) {
  const onchange = (typed) => {
    if (typed.trim() && !temperature(typed, demo.settings.n)) return "a number, 1/n, 1/n^2 or n/4";
    demo.settings[name] = typed.trim();
    showTemperatures(demo);
    changed(demo);
    return "";
  };
  return field(text, { value: "", hint, onchange });
}

/** The temperatures in force; only the annealed procedure has two. */
function showTemperatures({ settings, controls }) {
  const usual = PROCEDURES[settings.procedure];
  controls.tau.set(settings.tau || usual.tau);
  controls.tauEnd.set(settings.tauEnd || usual.tauEnd || "");
  controls.tauEnd.hidden = settings.procedure !== "annealed";
}

function showSet({ settings, controls }, hidden) {
  settings.hidden = hidden;
  controls.hidden.set(hidden.join(", "));
  controls.k.set(hidden.length);
}

function chooseSet(demo, hidden) {
  showSet(demo, hidden);
  changed(demo);
}

/** A random set of k positions; the address keeps the set itself. */
function drawSet(demo, k) {
  const { n } = demo.settings;
  const key = keyOf(Math.floor(Math.random() * 2 ** 31));
  chooseSet(demo, randomSubset(key, n, Math.min(k, MOST_HEADS, n)));
}

/** A position was chosen on the circle: hide it, or free it. */
function toggle(demo, j) {
  const { hidden } = demo.settings;
  const next = hidden.includes(j)
    ? hidden.filter((each) => each !== j)
    : [...hidden, j].sort((a, b) => a - b);
  if (next.length >= 1 && next.length <= MOST_HEADS) chooseSet(demo, next);
  else demo.said.textContent = `Between 1 and ${MOST_HEADS} positions can be hidden.`;
}

/** Other settings: a new circle, and the run from start to end. */
function changed(demo, moment = -1) {
  const { settings, counter, stage } = demo;
  counter.stop();
  counter.clear();
  if (settings.start === "stuck" && !isStuck(settings)) {
    settings.start = "random";
    demo.controls.start.set("random");
  }
  settings.moment = moment;
  demo.charts = null;
  demo.circle = circlePicture({
    n: settings.n,
    flags: indicator(settings.n, settings.hidden),
    ontoggle: (j) => toggle(demo, j),
  });
  const hadFocus = stage.contains(document.activeElement);
  stage.replaceChildren(demo.circle);
  if (hadFocus) demo.circle.focus();
  compute(demo);
}

/** The run, a slice of time after the other, then its pictures. */
async function compute(demo) {
  const { settings } = demo;
  const mine = ++demo.turn;
  const run = startRun(runSettings(settings));
  const stride = Math.max(1, Math.ceil(run.steps / MOMENTS));
  const rest = pace();
  const frames = [lookAt(run)];
  while (run.count < run.steps) {
    run.step();
    if (run.count % stride === 0 || run.count === run.steps) frames.push(lookAt(run));
    if (await rest()) demo.said.textContent = `Step ${run.count} of ${run.steps} …`;
    if (mine !== demo.turn) return;
  }
  demo.frames = frames;
  demo.charts = headsCharts(frames, settings);
  demo.side.replaceChildren(...demo.charts.nodes);
  demo.circle.paths(frames);
  demo.moments.length(frames.length);
  demo.moments.go(settings.moment < 0 ? frames.length - 1 : settings.moment);
  demo.place.dataset.ready = String(mine);
}

/** Between two moments: arrows and bars move on, words wait for the next moment. */
function glide({ frames, circle, charts }, position) {
  const [at, part] = [Math.floor(position), position % 1];
  const [one, two] = [frames[at], frames[at + 1]];
  if (!one || !two || !charts) return;
  const blend = (a, b) => Array.from(a, (value, i) => value + part * (b[i] - value));
  const between = {
    step: one.step + part * (two.step - one.step),
    directions: blend(one.directions, two.directions),
    weights: blend(one.weights, two.weights),
  };
  circle.show(between, between.step / (frames[frames.length - 1].step || 1));
  charts.show(between);
}

function showMoment(demo, index) {
  const { frames, settings, circle } = demo;
  const frame = frames[index];
  if (!frame || !demo.charts) return;
  const last = index === frames.length - 1;
  circle.show(frame, frame.step / (frames[frames.length - 1].step || 1));
  demo.charts.show(frame);
  settings.moment = last ? -1 : index;
  if (!demo.moments.playing()) keepSettings(settings); // browsers allow few changes a second
  demo.python.show(pythonLine(settings));
  const text = momentText(frame, last, settings.hidden);
  demo.said.textContent = text;
  circle.setAttribute("aria-label", `Circle of ${settings.n} positions. ${text}`);
}
